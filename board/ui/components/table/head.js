// The heads of the columns: what each is called and sorted by, and the edge that it is dragged wider by.

import { element } from "../token_view/dom.js";
import { fittingWidth, growing, NARROWEST_COLUMN, tracksOf, tracksOnPaper } from "./widths.js";

/** @import { Column, Shared, State } from "./types" */

const WIDEST_FITTED = 1200;

/**
 * @param {State} state
 * @param {Shared} shared
 */
export function fillHead(state, shared) {
  const cells = state.columns.map((column, at) => headCell(state, shared, column, at));
  state.parts.head.replaceChildren(...cells);
  const measured = measurer(state.parts.scroller);
  state.widths = state.columns.map(
    (column) => shared.widths.get(widthKey(state, column)) ?? column.width ?? fittingWidth(column, state.meta.rows, measured),
  );
  state.whole = state.columns.map((column) => fittingWidth(column, state.meta.rows, measured, WIDEST_FITTED));
  state.parts.root.style.setProperty("--on-paper", tracksOnPaper(state.columns, state.widths, state.meta.rows, measured));
  layColumns(state, shared);
  showOrder(state);
}

/**
 * @param {State} state
 * @param {Shared} shared
 * @param {Column} column
 * @param {number} at
 */
function headCell(state, shared, column, at) {
  const grip = element("span", "tb-grip", { "aria-hidden": "true" });
  const name = element("span", "tb-name", {}, column.label);
  const cell = element(
    "div",
    "tb-cell tb-head-cell",
    { role: "columnheader" },
    name,
    element("span", "tb-arrow", { "aria-hidden": "true" }),
    grip,
  );
  cell.title = column.help ? `${column.label}\n${column.help}` : column.label;
  cell.classList.toggle("tb-right", column.right);
  cell.classList.toggle("tb-pinned", column.pinned);
  grip.onclick = (event) => event.stopPropagation(); // a drag is not a click on the head
  grip.ondblclick = () => setWidth(state, shared, at, fittingWidth(column, state.meta.rows, measurer(cell), WIDEST_FITTED));
  grip.onpointerdown = (event) => {
    grip.setPointerCapture(event.pointerId);
    const [from, width] = [event.clientX, cell.offsetWidth];
    grip.onpointermove = (moved) => setWidth(state, shared, at, width + moved.clientX - from);
    grip.onlostpointercapture = () => {
      grip.onpointermove = null;
    };
  };
  return cell;
}

/**
 * @param {State} state
 * @param {Shared} shared
 * @param {number} at
 * @param {number} pixels
 */
export function setWidth(state, shared, at, pixels) {
  state.widths[at] = Math.max(NARROWEST_COLUMN, Math.round(pixels));
  shared.widths.set(widthKey(state, state.columns[at]), state.widths[at]);
  layColumns(state, shared);
}

/**
 * @param {State} state
 * @param {Column} column
 */
function widthKey({ meta }, { name }) {
  return `${meta.name}\n${name}`;
}

/**
 * @param {State} state
 * @param {Shared} shared
 */
function layColumns(state, shared) {
  const { style } = state.parts.root;
  const dragged = state.columns.map((column) => shared.widths.has(widthKey(state, column)));
  const grow = growing(state.columns, state.widths, state.whole, dragged);
  style.setProperty("--columns", tracksOf(state.widths, grow));
  state.parts.root.toggleAttribute("data-narrow", !grow.includes(true));
  style.setProperty("--all", `${state.widths.reduce((sum, one) => sum + one, 0)}px`);
  let left = 0;
  for (const [at, column] of state.columns.entries()) {
    if (!column.pinned) continue;
    style.setProperty("--pinned-left", `${left}px`);
    left += state.widths[at];
  }
}

/**
 * What the rows are in the order of, here or as they were sent.
 * @param {State} state
 */
export function showOrder({ parts, columns, by, meta }) {
  const sent = by.column === null && meta.sorted ? columns.findIndex(({ name }) => name === meta.sorted?.column) : -1;
  const [column, descending] = by.column === null ? [sent, meta.sorted?.descending ?? false] : [by.column, by.descending];
  for (const [at, cell] of [...parts.head.children].entries()) {
    if (at === column) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  }
}

/**
 * @param {HTMLElement} within the element whose letters are measured
 * @returns {(text: string, bold: boolean) => number}
 */
function measurer(within) {
  const context = /** @type {CanvasRenderingContext2D} */ (element("canvas").getContext("2d"));
  const { fontSize, fontFamily } = getComputedStyle(within);
  return (text, bold) => {
    context.font = `${bold ? 600 : 400} ${fontSize} ${fontFamily}`;
    return context.measureText(text).width;
  };
}
