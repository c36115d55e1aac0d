// Draws one cell. Texts enter the page as text nodes alone.

import { element } from "../token_view/dom.js";

/** @import { Column } from "./types" */

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 24; // of a line's picture, in its own units, as its width
const WIDTH = 100;
const COLOUR = /^#[0-9a-f]{6}$/i;

/**
 * An empty cell of that column.
 * @param {Column} column
 * @returns {HTMLElement}
 */
export function emptyCell(column) {
  const cell = element("div", `tb-cell tb-${column.kind}`, { role: "gridcell" });
  cell.classList.toggle("tb-right", column.right);
  cell.classList.toggle("tb-pinned", column.pinned);
  cell.classList.toggle("tb-opens", column.opens);
  if (column.color) cell.style.setProperty("--ink", column.color);
  if (column.kind === "text") cell.append(element("span", "tb-words"));
  if (column.kind === "bar") cell.append(element("span", "tb-track", {}, element("span", "tb-fill")), element("span"));
  return cell;
}

/**
 * @param {HTMLElement} cell
 * @param {Column} column
 * @param {number} row as sent
 */
export function paintCell(cell, column, row) {
  const text = column.text(row);
  if (column.kind === "text") /** @type {HTMLElement} */ (cell.firstChild).textContent = text;
  else if (column.kind === "number") cell.textContent = text;
  else if (column.kind === "bar") paintBar(cell, column, row, text);
  else if (column.kind === "trend") paintTrend(cell, column.line(row));
  else if (column.kind === "tags") cell.replaceChildren(...column.tags(row).map((tag) => element("span", "tb-tag", {}, tag)));
  else if (column.kind === "tick") paintTick(cell, column.rank(row) === 1, column.help);
  else cell.replaceChildren(...(COLOUR.test(text) ? [square(text)] : []));
}

/**
 * From zero to the number, between the ends of the column.
 * @param {HTMLElement} cell
 * @param {Column} column
 * @param {number} row
 * @param {string} text
 */
function paintBar(cell, { low = 0, high = 0, rank }, row, text) {
  const [track, said] = /** @type {HTMLElement[]} */ ([...cell.children]);
  const value = Number(rank(row));
  const place = (/** @type {number} */ one) => (100 * (one / 2 - low / 2)) / (high / 2 - low / 2); // halves: the span may be beyond a number
  const [from, to] = [place(Math.min(0, value)), place(Math.max(0, value))];
  const known = Number.isFinite(from) && Number.isFinite(to);
  const fill = /** @type {HTMLElement} */ (track.firstChild);
  fill.style.left = `${known ? from : 0}%`;
  fill.style.width = `${known ? to - from : 0}%`;
  said.textContent = text;
}

/**
 * @param {HTMLElement} cell
 * @param {ArrayLike<number>} line
 */
function paintTrend(cell, line) {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", trendPath(line, WIDTH, HEIGHT));
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", `0 -2 ${WIDTH} ${HEIGHT + 4}`);
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("aria-hidden", "true");
  picture.append(path);
  const known = Array.from(line).filter(Number.isFinite);
  const said = known.length ? `from ${rounded(known[0])} to ${rounded(known[known.length - 1])}` : "";
  cell.replaceChildren(...(known.length ? [picture] : []), element("span", "tb-said", {}, said));
}

/**
 * The line of some numbers within a picture, in the measure of its own least and largest; a gap where one is missing.
 * @param {ArrayLike<number>} line
 * @param {number} width
 * @param {number} height
 * @returns {string} as SVG writes a path
 */
export function trendPath(line, width, height) {
  const values = Array.from(line);
  const known = values.filter(Number.isFinite);
  const low = known.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  const high = known.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY);
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const y = (/** @type {number} */ one) => (high > low ? height - (height * (one - low)) / (high - low) : height / 2);
  const parts = values.map((one, at) => {
    if (!Number.isFinite(one)) return "";
    const begins = at === 0 || !Number.isFinite(values[at - 1]);
    const alone = begins && !Number.isFinite(values[at + 1]);
    const spot = `${(step * at).toFixed(1)} ${y(one).toFixed(1)}`;
    return alone ? `M${spot}h1` : `${begins ? "M" : "L"}${spot}`;
  });
  return parts.join("");
}

/**
 * @param {HTMLElement} cell
 * @param {boolean} on
 * @param {string} told what it is ticked for
 */
function paintTick(cell, on, told) {
  const box = element("span", "tb-box", { role: "checkbox", "aria-checked": String(on), "aria-label": told });
  cell.replaceChildren(box);
}

/** @param {string} colour */
function square(colour) {
  const one = element("span", "tb-square");
  one.style.background = colour;
  return one;
}

/** @param {number} value */
function rounded(value) {
  return Number(value.toPrecision(3));
}
