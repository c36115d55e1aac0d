// The response as text: one span per token, in chunks the browser may skip while they are out of sight.

import { element } from "./dom.js";
import { endsLine, isPlain, pieces } from "./marks.js";
import { barOf, stepOf } from "./scale.js";

/** A chunk ends at the first line end after this many tokens: a block of its own must not break a line that the response does not break. */
const CHUNK = 192;
/** A response without line ends is broken after this many all the same. */
const CHUNK_LIMIT = 4096;

/** Fills `box` with the tokens; returns their spans in order. Each span knows its index as `span.index`. */
export function drawText(box, tokens) {
  const spans = [];
  const blocks = [];
  let block = null;
  let inBlock = 0;
  tokens.forEach((token, i) => {
    if (block === null) {
      block = element("div", "tv-chunk");
      blocks.push(block);
      inBlock = 0;
    }
    const span = tokenSpan(token);
    span.index = i;
    spans.push(span);
    block.append(span);
    inBlock += 1;
    if ((inBlock >= CHUNK && endsLine(token)) || inBlock >= CHUNK_LIMIT) block = null;
  });
  box.replaceChildren(...blocks);
  return spans;
}

/** The class names that colour one token: its step, its underline, and what is odd about it. */
export function tokenClass(model, metric, i) {
  if (model.counts[i] === 0) return "tv-tok tv-masked";
  if (metric === null) return "tv-tok";
  const at = metric.places[i];
  const step = stepOf(at);
  if (step === null) return "tv-tok tv-missing";
  const side = metric.scale !== "diverging" ? "s" : step < 0 ? "n" : "p";
  const infinite = Number.isFinite(metric.values[i]) ? "" : " tv-infinite";
  const bar = barOf(at);
  const underline = bar === 0 ? "" : ` tv-u${bar}${at < 0 ? " tv-below" : ""}`;
  return `tv-tok tv-${side}${Math.abs(step)}${underline}${infinite}`;
}

/** Colours all spans by a metric (null: none). */
export function paintText(spans, model, metric) {
  spans.forEach((span, i) => {
    const wanted = tokenClass(model, metric, i);
    if (span.className !== wanted) span.className = wanted;
  });
}

/** Draws one token into a node: its text, with a mark for each character that would not be seen. */
export function drawToken(node, token) {
  if (isPlain(token)) {
    node.append(token);
    return;
  }
  for (const piece of pieces(token)) {
    if (piece.text !== undefined) node.append(piece.text);
    else node.append(...markNodes(piece));
  }
}

/** The span above or below another: nearest in x on the next line in that direction; null at the end. */
export function verticalNeighbour(spans, from, direction) {
  const here = spans[from].getBoundingClientRect();
  const middle = here.left + here.width / 2;
  let best = null;
  let line = null;
  for (let i = from + direction; i >= 0 && i < spans.length; i += direction) {
    const box = spans[i].getClientRects()[0];
    if (!box || Math.abs(box.top - here.top) < here.height / 2) continue;
    if (line !== null && Math.abs(box.top - line) > box.height / 2) break;
    line = box.top;
    const gap = Math.abs(box.left + box.width / 2 - middle);
    if (best === null || gap < best.gap) best = { i, gap };
  }
  return best?.i ?? null;
}

function tokenSpan(token) {
  const span = document.createElement("span");
  drawToken(span, token);
  return span;
}

/** The mark is drawn by CSS from an attribute, so that the text itself, copied or read aloud, stays the response's own. */
function markNodes({ mark, raw, badge }) {
  const over = raw === " " || raw === "\t";
  const node = element("span", badge ? "tv-mark tv-badge" : over ? "tv-mark tv-over" : "tv-mark", { "data-mark": mark });
  if (over) node.append(raw);
  return raw === "\n" ? [node, "\n"] : [node];
}
