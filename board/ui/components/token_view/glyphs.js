// One token as elements: its class names, its text with marks for what would not be seen, and its share of a character that is split.

import { badByte } from "./bytes.js";
import { contextOf, element } from "./dom.js";
import { isPlain, pieces } from "./marks.js";
import { barOf, stepOf } from "./scale.js";

/** @import { GlyphUnit, Mark, Model, ShownMetric, Unit } from "./model_types" */
/** @import { Pen } from "./view_types" */

/**
 * The class names that colour one token: its step, its underline, and what is odd about it.
 * @param {Model} model
 * @param {ShownMetric | null} metric
 * @param {number} i
 */
export function tokenClass(model, metric, i) {
  if (model.counts[i] === 0) return "tv-tok tv-masked";
  if (metric === null) return "tv-tok";
  const at = metric.placeAt(i);
  const step = stepOf(at);
  if (step === null) return "tv-tok tv-missing";
  const side = metric.scale !== "diverging" ? "s" : step < 0 ? "n" : "p";
  const infinite = Number.isFinite(metric.values[i]) ? "" : " tv-infinite";
  const bar = barOf(at);
  const underline = bar === 0 ? "" : ` tv-u${bar}${at < 0 ? " tv-below" : ""}`;
  return `tv-tok tv-${side}${Math.abs(step)}${underline}${infinite}`;
}

/**
 * Draws one token into a node: its text, with a mark for each character that would not be seen, and for each space if asked for.
 * @param {HTMLElement} node
 * @param {string} token
 * @param {boolean} [spaces]
 */
export function drawToken(node, token, spaces = false) {
  if (isPlain(token) && !(spaces && token.includes(" "))) {
    node.append(token);
    return;
  }
  for (const piece of pieces(token, spaces)) {
    if (piece.text !== undefined) node.append(piece.text);
    else node.append(...markNodes(piece));
  }
}

/**
 * Draws what `spell` says of a token; a shared character shows this token's share of it, as wide as its part. `pen` measures.
 * @param {HTMLElement} span
 * @param {Unit[]} units
 * @param {Pen} pen
 * @param {boolean} [spaces]
 */
export function drawUnits(span, units, pen, spaces = false) {
  if (units.length === 0) drawToken(span, "");
  for (const unit of units) {
    if (unit.text !== undefined) drawToken(span, unit.text, spaces);
    else if (unit.glyph === undefined) span.append(...markNodes({ mark: badByte(unit.bad), raw: "", badge: true }));
    else {
      const [first] = pieces(unit.glyph);
      span.append(...(first.mark === undefined ? [slice(unit, pen(unit.glyph))] : markNodes({ ...first, raw: "" })));
    }
  }
  if ((units[0]?.part ?? 0) > 0) span.setAttribute("data-continues", "");
}

/**
 * The glyph is text in its first share only, so that a copy has it once; the others draw it from an attribute.
 * @param {GlyphUnit} unit
 * @param {number} width
 */
function slice({ glyph, part, parts }, width) {
  const inner = part === 0 ? element("span", "tv-glyph", {}, glyph) : element("span", "tv-glyph", { "data-glyph": glyph });
  inner.style.marginLeft = `${-(part * width) / parts}em`;
  const box = element("span", "tv-slice", {}, inner);
  box.style.width = `${width / parts}em`;
  return box;
}

/**
 * Measures a glyph in em, by the font of `box`; the canvas is made when the first one is asked for.
 * @param {HTMLElement} box
 * @returns {Pen}
 */
export function penOf(box) {
  /** @type {CanvasRenderingContext2D | null} */
  let context = null;
  return (glyph) => {
    if (context === null) {
      context = contextOf(document.createElement("canvas"));
      context.font = `100px ${getComputedStyle(box).fontFamily}`;
    }
    return Math.max(0.5, context.measureText(glyph).width / 100);
  };
}

/**
 * The mark is drawn by CSS from an attribute, so that the text itself, copied or read aloud, stays the response's own.
 * @param {Mark} mark
 */
function markNodes({ mark, raw, badge }) {
  const over = raw === " " || raw === "\t";
  const node = element("span", badge ? "tv-mark tv-badge" : over ? "tv-mark tv-over" : "tv-mark", { "data-mark": mark });
  if (over) node.append(raw);
  return raw === "\n" ? [node, "\n"] : [node];
}
