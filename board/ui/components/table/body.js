// The rows that are in sight, and a few around them: however many there are, so many elements and no more.

import { element } from "../token_view/dom.js";
import { emptyCell, paintCell } from "./cells.js";

/** @import { Line, State } from "./types" */

const AROUND = 4; // rows above and below those in sight
const MOST_PRINTED = 500;

/**
 * Puts the rows that are in sight on the page; of those that were there only what is new is drawn.
 * @param {State} state
 * @param {boolean} anew whether what is there is to be drawn again
 */
export function showRows(state, anew) {
  const { parts, meta, order } = state;
  const count = order.length;
  const top = Math.floor(parts.scroller.scrollTop / meta.rowHeight) - AROUND;
  state.size.drawn();
  const inSight = Math.ceil(parts.scroller.clientHeight / meta.rowHeight) + 2 * AROUND;
  const wanted = Math.min(count, state.printed ? MOST_PRINTED : inSight);
  const first = state.printed ? 0 : Math.max(0, Math.min(top, count - wanted));
  const moved = first - state.first;
  state.first = first;
  const fresh = resize(state, wanted);
  if (anew || fresh || Math.abs(moved) >= wanted)
    for (const [at, line] of state.lines.entries()) paintLine(state, line, first + at);
  else turn(state, moved);
  parts.lines.style.transform = `translateY(${first * meta.rowHeight}px)`;
  showPlace(state);
}

/**
 * As many lines as are wanted; true where one was made.
 * @param {State} state
 * @param {number} wanted
 */
function resize(state, wanted) {
  for (const { root } of state.lines.splice(wanted)) root.remove();
  const made = wanted - state.lines.length;
  for (let at = 0; at < made; at += 1) {
    const cells = state.columns.map(emptyCell);
    const root = element("div", "tb-row", { role: "row" }, ...cells);
    state.lines.push({ root, cells });
    state.parts.lines.append(root);
  }
  return made > 0;
}

/**
 * Lines that left at one end come in at the other.
 * @param {State} state
 * @param {number} moved rows further down, or up
 */
function turn(state, moved) {
  const { lines, parts, first } = state;
  for (let at = 0; at < moved; at += 1) {
    const line = /** @type {Line} */ (lines.shift());
    lines.push(line);
    parts.lines.append(line.root);
    paintLine(state, line, first + lines.length - moved + at);
  }
  for (let at = 0; at < -moved; at += 1) {
    const line = /** @type {Line} */ (lines.pop());
    lines.unshift(line);
    parts.lines.prepend(line.root);
    paintLine(state, line, first - moved - 1 - at);
  }
}

/**
 * @param {State} state
 * @param {Line} line
 * @param {number} at its place in the order
 */
function paintLine(state, { root, cells }, at) {
  const row = state.order[at];
  root.setAttribute("aria-rowindex", String(at + 2));
  root.setAttribute("aria-selected", String(row === state.chosen));
  for (const [i, column] of state.columns.entries()) paintCell(cells[i], column, row);
}

/**
 * Marks the chosen row, and the cell that the keys are at.
 * @param {State} state
 */
export function showPlace(state) {
  const { parts, lines, first, order } = state;
  for (const [at, { root, cells }] of lines.entries()) {
    root.setAttribute("aria-selected", String(order[first + at] === state.chosen));
    for (const [i, cell] of cells.entries()) markPlace(cell, first + at === state.at && i === state.cell);
  }
  for (const [i, head] of [...parts.head.children].entries())
    markPlace(/** @type {HTMLElement} */ (head), state.at < 0 && i === state.cell);
}

/**
 * @param {HTMLElement} cell
 * @param {boolean} here
 */
function markPlace(cell, here) {
  if (here)
    cell.id = "tb-here"; // the grid's aria-activedescendant; within this shadow root alone
  else if (cell.id) cell.removeAttribute("id");
}

/**
 * Scrolls no further than is needed to have a row, and a column, in sight.
 * @param {State} state
 * @param {number} at the row's place in the order
 * @param {{ column?: number; middle?: boolean }} [how] `middle`: a row that is not in sight comes to stand in the middle
 */
export function reveal(state, at, { column, middle = false } = {}) {
  const { scroller, head } = state.parts;
  const height = state.meta.rowHeight;
  const room = scroller.clientHeight - head.offsetHeight;
  const [top, bottom] = [at * height, (at + 1) * height];
  const isIn = top >= scroller.scrollTop && bottom <= scroller.scrollTop + room;
  if (at >= 0 && !isIn) {
    const nearest = top < scroller.scrollTop ? top : bottom - room;
    scroller.scrollTop = middle ? top - (room - height) / 2 : nearest;
  }
  if (column !== undefined) revealColumn(state, column);
}

/**
 * @param {State} state
 * @param {number} at
 */
function revealColumn({ parts: { scroller, head }, columns }, at) {
  const cell = /** @type {HTMLElement} */ (head.children[at]);
  if (columns[at].pinned) return;
  const covered = columns.reduce(
    (sum, { pinned }, i) => sum + (pinned ? /** @type {HTMLElement} */ (head.children[i]).offsetWidth : 0),
    0,
  );
  const [left, right] = [cell.offsetLeft - covered, cell.offsetLeft + cell.offsetWidth];
  if (left < scroller.scrollLeft) scroller.scrollLeft = left;
  else if (right > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = right - scroller.clientWidth;
}
