// How wide columns are: as said, as the reader dragged them, or as their head and their longest text ask for. Pure but for what measures.

/** @import { Column } from "./types" */

export const NARROWEST_COLUMN = 34;
const WIDEST = 340; // pixels that a column takes unasked
const PADDING = 22; // pixels around a text
const EDGE = 8; // pixels around a number on paper
const ARROW = 14; // pixels for the mark of the order
const SAMPLE = 300; // rows whose texts are looked at
const DRAWN = { trend: 120, tags: 160, colour: 34, tick: 40, bar: 44 };

/**
 * @param {Column} column
 * @param {number} rows
 * @param {(text: string, bold: boolean) => number} measured pixels of a text
 * @param {number} [most]
 * @returns {number} pixels
 */
export function fittingWidth(column, rows, measured, most = WIDEST) {
  const head = column.label ? measured(column.label, true) + PADDING + ARROW : 0;
  const drawn = DRAWN[/** @type {keyof typeof DRAWN} */ (column.kind)] ?? 0;
  if (drawn && column.kind !== "bar") return Math.ceil(Math.max(drawn, Math.min(head, most)));
  const longest = measured(longestText(column, rows), false);
  return Math.ceil(Math.min(most, Math.max(NARROWEST_COLUMN, head, longest + PADDING + drawn)));
}

/**
 * @param {Column} column
 * @param {number} rows
 */
function longestText(column, rows) {
  const few = Math.min(rows, SAMPLE);
  let longest = "";
  for (let at = 0; at < few; at += 1) {
    const text = column.text(Math.floor((at * rows) / few));
    if (text.length > longest.length) longest = text;
  }
  return longest;
}

/**
 * The columns' tracks on paper, which does not scroll: all share its width, and no number is cut.
 * @param {Column[]} columns
 * @param {number[]} widths
 * @param {number} rows
 * @param {(text: string, bold: boolean) => number} measured
 * @returns {string}
 */
export function tracksOnPaper(columns, widths, rows, measured) {
  const least = columns.map((column) =>
    column.kind === "number" || column.kind === "bar" ? Math.ceil(measured(longestText(column, rows), false)) + EDGE : 0,
  );
  return widths.map((width, at) => `minmax(${least[at]}px, ${width}fr)`).join(" ");
}

/**
 * Which columns share the room that is left: those of texts that are cut, else the last one of texts; none that the reader dragged.
 * @param {Column[]} columns
 * @param {number[]} widths
 * @param {number[]} whole widths at which no text is cut
 * @param {boolean[]} dragged
 * @returns {boolean[]}
 */
export function growing(columns, widths, whole, dragged) {
  const may = columns.map(({ kind, right }, at) => kind === "text" && !right && !dragged[at]);
  const cut = may.map((one, at) => one && whole[at] > widths[at]);
  return cut.includes(true) ? cut : may.map((one, at) => one && at === may.lastIndexOf(true));
}

/**
 * The columns' tracks in a grid.
 * @param {number[]} widths
 * @param {boolean[]} grow
 * @returns {string}
 */
export function tracksOf(widths, grow) {
  return widths.map((width, at) => (grow[at] ? `minmax(${width}px, 1fr)` : `${width}px`)).join(" ");
}
