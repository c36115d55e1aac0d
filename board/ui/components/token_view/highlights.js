// What is marked in the text and its maps: the hovered, focused and pinned tokens, the places of a search, and what is in sight.

import { element } from "./dom.js";
import { literal } from "./marks.js";
import { localIndex } from "./model.js";
import { cut } from "./tooltip.js";

const HINT =
  "hover or use the arrow keys for a token's numbers; click or Enter pins it, with Shift beside others; drag below to zoom, double click for all";

/** Chunks that were just built know nothing yet of pins and matches. */
export function built(view) {
  if (!view.model) return;
  mark(view);
  if (view.matches) markMatches(view);
}

export function showMatches(view, matches) {
  view.matches = matches;
  markMatches(view);
  view.map.show({ matches });
}

function markMatches(view) {
  view.text.each((span) => {
    const kind = view.matches?.[span.index];
    if (kind) span.setAttribute("data-match", kind === 2 ? "now" : "");
    else if (span.hasAttribute("data-match")) span.removeAttribute("data-match");
  });
}

export function mark(view) {
  const { model, text, parts } = view;
  const pinned = localIndex(model, view.pinned);
  flag(view, "marked-hover", text.span(view.hovered), "data-hover");
  flagPins(view);
  flag(view, "marked-focus", text.span(view.focused), "data-focus");
  view.plots.mark(view.hovered, pinned);
  view.map.follow({ pinned });
  view.compare.show(model, view.pins, view.metric);
  const shown = view.hovered ?? pinned;
  parts.status.classList.toggle("tv-dim", shown === null);
  if (shown === null) parts.status.textContent = HINT;
  else parts.status.replaceChildren(...statusOf(view, shown, shown === pinned));
}

function statusOf(view, index, isPinned) {
  const place = `token ${(view.model.start + index + 1).toLocaleString("en-US")} `;
  const text = element("bdi", "tv-status-text", {}, literal(cut(view.model.token(index))));
  return [place, text, ...(isPinned ? [element("span", "tv-dim", {}, " pinned")] : [])];
}

function flag(view, slot, span, attribute) {
  if (view[slot] === span) return;
  view[slot]?.removeAttribute(attribute);
  span?.setAttribute(attribute, "");
  view[slot] = span;
}

/** Shows beneath the text which of its tokens are in sight. */
export function inSight(view) {
  const inView = view.text.inView();
  view.map.follow({ inView });
  view.plots.inView(inView);
}

function flagPins(view) {
  const spans = view.pins.map((position) => view.text.span(localIndex(view.model, position))).filter(Boolean);
  for (const span of view.flagged ?? []) if (!spans.includes(span)) span.removeAttribute("data-pinned");
  for (const span of spans) span.setAttribute("data-pinned", "");
  view.flagged = spans;
}

/** Scrolls the text to a token and the heatmap too, without moving the page. */
export function reveal(view, index) {
  view.text.reveal(index);
  view.plots.reveal(index);
}
