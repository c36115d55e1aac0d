// What is marked in the text and its maps: the hovered, focused and pinned tokens, the places of a search, and what is in sight.

import { element } from "./dom.js";
import { literal } from "./marks.js";
import { localIndex } from "./model.js";
import { cut } from "./tooltip.js";

/** @import { TokenSpan, View } from "./view_types" */

const HINT =
  "hover or use the arrow keys for a token's numbers; click or Enter pins it, with Shift beside others; drag below to zoom, double click for all";

/**
 * Chunks that were just built know nothing yet of pins and matches.
 * @param {View} view
 */
export function built(view) {
  if (!view.model) return;
  mark(view);
  if (view.matches) markMatches(view);
}

/**
 * @param {View} view
 * @param {Uint8Array | null} matches
 */
export function showMatches(view, matches) {
  view.matches = matches;
  markMatches(view);
  view.map.show({ matches });
}

/** @param {View} view */
function markMatches(view) {
  view.text.each((span) => {
    const kind = view.matches?.[span.index];
    if (kind) span.setAttribute("data-match", kind === 2 ? "now" : "");
    else if (span.hasAttribute("data-match")) span.removeAttribute("data-match");
  });
}

/** @param {View} view */
export function mark(view) {
  const { model, text, parts } = view;
  const pinned = localIndex(model, view.pinned);
  flag(view, "markedHover", text.span(view.hovered), "data-hover");
  flagPins(view);
  flag(view, "markedFocus", text.span(view.focused), "data-focus");
  view.plots.mark(view.hovered, pinned);
  view.map.follow({ pinned });
  view.compare.show(model, view.pins, view.metric);
  const shown = view.hovered ?? pinned;
  parts.status.classList.toggle("tv-dim", shown === null);
  if (shown === null) parts.status.textContent = HINT;
  else parts.status.replaceChildren(...statusOf(view, shown, shown === pinned));
}

/**
 * @param {View} view
 * @param {number} index
 * @param {boolean} isPinned
 */
function statusOf(view, index, isPinned) {
  const place = `token ${(view.model.start + index + 1).toLocaleString("en-US")} `;
  const text = element("bdi", "tv-status-text", {}, literal(cut(view.model.token(index))));
  return [place, text, ...(isPinned ? [element("span", "tv-dim", {}, " pinned")] : [])];
}

/**
 * @param {View} view
 * @param {"markedHover" | "markedFocus"} slot
 * @param {TokenSpan | undefined} span
 * @param {string} attribute
 */
function flag(view, slot, span, attribute) {
  if (view[slot] === span) return;
  view[slot]?.removeAttribute(attribute);
  span?.setAttribute(attribute, "");
  view[slot] = span;
}

/**
 * Shows beneath the text which of its tokens are in sight.
 * @param {View} view
 */
export function inSight(view) {
  const inView = view.text.inView();
  view.map.follow({ inView });
  view.plots.inView(inView);
}

/** @param {View} view */
function flagPins(view) {
  const spans = view.pins
    .map((position) => view.text.span(localIndex(view.model, position)))
    .filter((span) => span !== undefined);
  for (const span of view.flagged) if (!spans.includes(span)) span.removeAttribute("data-pinned");
  for (const span of spans) span.setAttribute("data-pinned", "");
  view.flagged = spans;
}

/**
 * Scrolls the text to a token and the heatmap too, without moving the page.
 * @param {View} view
 * @param {number} index
 */
export function reveal(view, index) {
  view.text.reveal(index);
  view.plots.reveal(index);
}
