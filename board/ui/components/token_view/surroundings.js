// What stands around a token on the screen: what is read next, what is pinned and compared, and the ends of the lines in sight.

import { localIndex } from "./model.js";
import { overlaps } from "./placing.js";

/** @import { Box, Surroundings } from "./plain_types" */
/** @import { TextPane, View } from "./view_types" */

/** Tokens looked at for the end of a line and the one after it. */
const LOOKED_AT = 600;
/** A line narrower than this is an empty one, and the line after it is read next. */
const EMPTY_LINE = 24;
/** Room that the card leaves to the edges of the window. */
const MARGIN = 8;

/**
 * {token, bounds, keep, lines, spare} of token `index` for `hangAt`; `view` is that of view.js.
 * @param {View} view
 * @param {number} index
 * @returns {Surroundings}
 */
export function surroundings(view, index) {
  const { text, parts, model } = view;
  const pane = parts.text.getBoundingClientRect();
  /** @param {Box} box */
  const seen = (box) => overlaps(box, pane);
  const own = boxesOf(text.reach(index));
  const token = own[own.length - 1];
  const pins = view.pins.flatMap((position) => boxesOf(text.span(localIndex(model, position)))).filter(seen);
  const compared = [parts.compare, parts.chart, parts.heat].filter(
    (part) => !part.hidden && (part === parts.compare || part.matches(":hover")),
  );
  const keep = [
    ...own,
    ...readNext(text, model.n, index, token).filter(seen),
    ...pins,
    ...compared.map((part) => part.getBoundingClientRect()),
  ];
  return {
    token,
    bounds: windowBox(),
    keep,
    lines: linesInSight(text).filter(seen),
    spare: [parts.bar, parts.map, parts.chart].map((part) => part.getBoundingClientRect()),
  };
}

/**
 * The window without the tabs, which lie over everything.
 * @returns {Box}
 */
function windowBox() {
  const header = document.querySelector(".st-key-tabs")?.getBoundingClientRect().bottom ?? 0;
  return { left: MARGIN, top: header + MARGIN, right: window.innerWidth - MARGIN, bottom: window.innerHeight - MARGIN };
}

/**
 * @param {Element | undefined} span
 * @returns {Box[]}
 */
function boxesOf(span) {
  return span === undefined ? [] : [...span.getClientRects()];
}

/**
 * The rest of the token's line and the line after it that is not empty, a box each.
 * @param {TextPane} text
 * @param {number} n
 * @param {number} index
 * @param {Box} token
 * @returns {Box[]}
 */
function readNext(text, n, index, token) {
  /** @type {Box[]} */
  const lines = [];
  for (let i = index; i < Math.min(n, index + LOOKED_AT); i += 1) {
    const boxes = boxesOf(text.span(i));
    if (boxes.length === 0) continue;
    for (const box of boxes.filter(({ bottom }) => bottom > token.top + 1)) addToLine(lines, box);
    const wide = lines.slice(1, -1).some(({ left, right }) => right - left > EMPTY_LINE);
    if (wide) return lines.slice(0, -1);
  }
  return lines;
}

/**
 * Adds a token's box to its line, or begins a line with it.
 * @param {Box[]} lines
 * @param {Box} box
 */
function addToLine(lines, box) {
  const middle = (box.top + box.bottom) / 2;
  const line = lines.find(({ top, bottom }) => top < middle && middle < bottom);
  if (line === undefined) lines.push({ left: box.left, top: box.top, right: box.right, bottom: box.bottom });
  else Object.assign(line, { left: Math.min(line.left, box.left), right: Math.max(line.right, box.right) });
}

/** @param {TextPane} text */
function linesInSight(text) {
  const [first, last] = text.inView() ?? [0, -1];
  /** @type {Box[]} */
  const lines = [];
  for (let i = first; i <= last; i += 1) for (const box of boxesOf(text.span(i))) addToLine(lines, box);
  return lines;
}
