// A table whose rows lead somewhere: a click or Enter reports the row. Rows are drawn as they come in sight.

import { whenGone } from "../leaving.js";
import { element, perFrame, whenResized } from "../token_view/dom.js";
import { reveal, showPlace, showRows } from "./body.js";
import { columnsOf } from "./cell_values.js";
import { fillHead, setWidth, showOrder } from "./head.js";
import { meantBy } from "./pressed.js";
import { keepRest } from "./rest_of_window.js";
import { holding, inOrder, nextOrder, searched } from "./row_order.js";
import { sharedTables } from "./shared_tables.js";
import { copied, fillTools, openSearch, showWhole, tellFound } from "./tools.js";

/** @import { Mounted, Parent } from "../streamlit" */
/** @import { Parts, Sent, State } from "./types" */

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();
const shared = sharedTables();

/** @param {Mounted<Sent>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const before = states.get(parentElement);
  const state = before ?? build(parentElement, data);
  states.set(parentElement, state);
  state.trigger = setTriggerValue;
  fill(state, data);
  if (!before) reveal(state, state.order.indexOf(state.chosen ?? -1), { middle: true });
  showRows(state, true);
  return whenGone(parentElement, () => {
    states.delete(parentElement);
    state.stop();
  });
}

/**
 * @param {Parent} parentElement
 * @param {Sent} sent
 * @returns {State}
 */
function build(parentElement, { meta }) {
  const parts = partsOf();
  parentElement.append(parts.root);
  const again = perFrame(() => showRows(state, false));
  // At once: told before the page is painted, it shows no empty stretch where it grew.
  const size = whenResized(
    parts.scroller,
    ({ clientHeight }) => clientHeight,
    () => showRows(state, false),
  );
  /** @type {State} */
  const state = {
    ...{
      parts,
      meta,
      columns: [],
      widths: [],
      whole: [],
      by: { column: null, descending: false },
      query: "",
      order: new Uint32Array(0),
    },
    ...{
      texts: null,
      at: 0,
      cell: 0,
      chosen: null,
      first: 0,
      lines: [],
      printed: false,
      size,
      trigger: () => {},
      stop: () => {},
    },
  };
  const listening = new AbortController();
  const leave = keepRest(parts.root);
  fillTools(state, (query) => search(state, query));
  parts.scroller.addEventListener("scroll", again, { passive: true, signal: listening.signal });
  listen(state);
  for (const when of ["beforeprint", "afterprint"]) {
    const print = () => {
      state.printed = when === "beforeprint";
      showRows(state, true);
    };
    window.addEventListener(when, print, { signal: listening.signal });
  }
  const follow = (/** @type {string} */ key) => {
    if (key === state.meta.key) choose(state, shared.chosen.get(key) ?? null);
  };
  shared.listeners.add(follow);
  state.stop = () => {
    listening.abort();
    size.stop();
    leave();
    again.cancel();
    shared.listeners.delete(follow);
    parts.root.remove();
  };
  return state;
}

/** @returns {Parts} */
function partsOf() {
  const head = element("div", "tb-head", { role: "row", "aria-rowindex": "1" });
  const lines = element("div", "tb-lines", { role: "none" });
  const body = element("div", "tb-body", { role: "rowgroup" }, lines);
  const empty = element("p", "tb-empty", { hidden: true }, "No rows.");
  const scroller = element("div", "tb", { tabIndex: 0, role: "grid", "aria-activedescendant": "tb-here" }, head, body, empty);
  const find = element("input", "tb-find", {
    type: "search",
    hidden: true,
    placeholder: "Find",
    "aria-label": "Find in these rows",
  });
  const found = element("span", "tb-found", { role: "status" });
  const tools = element("div", "tb-tools");
  return { root: element("div", "tb-root", {}, tools, scroller), scroller, head, body, lines, empty, find, found, tools };
}

/**
 * Takes over what was sent; the reader's order, his search and where he is stay.
 * @param {State} state
 * @param {Sent} sent
 */
function fill(state, sent) {
  const { meta } = sent;
  const sorted = state.by.column === null ? "" : state.columns[state.by.column]?.name;
  const columns = columnsOf(sent);
  const at = columns.findIndex(({ name }) => name === sorted);
  const by = at < 0 ? { column: null, descending: false } : { column: at, descending: state.by.descending };
  Object.assign(state, { meta, columns, by, texts: null, chosen: shared.chosen.get(meta.key) ?? null });
  for (const { root } of state.lines.splice(0)) root.remove();
  const { root, scroller } = state.parts;
  root.style.setProperty("--row", `${meta.rowHeight}px`);
  root.style.setProperty("--words", String(Math.max(1, Math.floor((meta.rowHeight - 12) / 20))));
  root.style.setProperty("--tall", meta.height === null ? "var(--rest)" : `${meta.height}px`);
  root.toggleAttribute("data-leads", meta.leads);
  scroller.setAttribute("aria-label", meta.name);
  scroller.setAttribute("aria-colcount", String(columns.length));
  fillHead(state, shared);
  arrange(state);
  state.at = Math.max(0, state.order.indexOf(state.chosen ?? -1));
  state.cell = Math.min(state.cell, Math.max(0, columns.length - 1));
}

/**
 * Which rows are shown, in which order; nothing is drawn.
 * @param {State} state
 */
function arrange(state) {
  const { meta, columns, query, parts } = state;
  if (query) state.texts ??= searched(columns, meta.rows);
  state.order = inOrder(columns, state.by, holding(state.texts, meta.rows, query));
  parts.scroller.setAttribute("aria-rowcount", String(state.order.length + 1));
  parts.body.style.height = `${state.order.length * meta.rowHeight}px`;
  parts.empty.hidden = state.order.length > 0;
  tellFound(state);
}

/**
 * @param {State} state
 * @param {string} query
 */
function search(state, query) {
  state.query = query;
  arrange(state);
  state.at = 0;
  state.parts.scroller.scrollTop = 0;
  showRows(state, true);
}

/**
 * The server's choice: marked, and in sight.
 * @param {State} state
 * @param {number | null} row
 */
function choose(state, row) {
  if (row === state.chosen) return;
  const middle = state.chosen === null; // it has just come
  state.chosen = row;
  const at = row === null ? -1 : state.order.indexOf(row);
  if (at >= 0) state.at = at;
  reveal(state, at, { middle });
  showRows(state, false);
}

/**
 * Sorts by a column: here, or where there is more than was sent.
 * @param {State} state
 * @param {number} at
 */
function sort(state, at) {
  const column = state.columns[at];
  if (column.sorts) return state.trigger("sorted", column.name);
  state.by = nextOrder(state.columns, state.by, at);
  arrange(state);
  showOrder(state);
  reveal(state, state.order.indexOf(state.chosen ?? -1));
  showRows(state, true);
}

/**
 * @param {State} state
 * @param {number} at the row's place in the order
 * @param {number} cell
 */
function open(state, at, cell) {
  const row = state.order[at];
  if (row === undefined) return;
  const column = state.columns[cell];
  if (column.kind === "tick") return state.trigger("ticked", { row, column: column.name, on: column.rank(row) !== 1 });
  Object.assign(state, { at, cell, chosen: state.meta.leads ? row : state.chosen });
  showPlace(state);
  if (state.meta.leads) state.trigger("clicked", { row, column: column.name });
}

/** @param {State} state */
function listen(state) {
  const { scroller, root } = state.parts;
  scroller.onclick = (event) => {
    const spot = spotOf(state, event.target);
    if (!spot || String(document.getSelection() ?? "")) return; // words may be marked and copied
    if (spot.at < 0) sort(state, spot.cell);
    else open(state, spot.at, spot.cell);
  };
  scroller.ondblclick = (event) => {
    const spot = spotOf(state, event.target);
    if (spot && spot.at >= 0) showWhole(state, spot.element, spot.at, spot.cell);
  };
  scroller.onpointerover = (event) => {
    const spot = spotOf(state, event.target);
    if (spot && spot.at >= 0) spot.element.title = state.columns[spot.cell].whole(state.order[spot.at]);
  };
  scroller.onkeydown = (event) => press(state, event);
  root.addEventListener("copy", (event) => copied(state, event));
}

/**
 * @param {State} state
 * @param {EventTarget | null} target
 */
function spotOf(state, target) {
  const cell = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(".tb-cell")) : null;
  const line = cell?.parentElement;
  if (!cell || !line) return null;
  const at = line === state.parts.head ? -1 : state.first + state.lines.findIndex(({ root }) => root === line);
  return { element: cell, at, cell: [...line.children].indexOf(cell) };
}

/**
 * @param {State} state
 * @param {KeyboardEvent} event
 */
function press(state, event) {
  const { at, cell, order, columns, parts } = state;
  const page = Math.max(1, Math.floor((parts.scroller.clientHeight - parts.head.offsetHeight) / state.meta.rowHeight) - 1);
  const { kind, opens } = columns[cell] ?? {};
  const chosen = order[at] === state.chosen && kind !== "tick" && !opens;
  const meant = meantBy(event, { at, cell, rows: order.length, columns: columns.length, page, chosen });
  if (!meant) return;
  event.preventDefault();
  event.stopPropagation();
  if (meant.act === "move") {
    Object.assign(state, { at: meant.at, cell: meant.cell });
    reveal(state, meant.at, { column: meant.cell });
    showRows(state, false);
  } else if (meant.act === "choose" || (meant.act === "whole" && kind === "tick")) open(state, at, cell);
  else if (meant.act === "sort") sort(state, cell);
  else if (meant.act === "widen") setWidth(state, shared, cell, state.widths[cell] + meant.by);
  else if (meant.act === "find") openSearch(state, true);
  else {
    const here = state.lines[at - state.first]?.cells[cell];
    if (here) showWhole(state, here, at, cell);
  }
}
