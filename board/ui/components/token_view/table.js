// The numbers behind the picture as a real table, a page of tokens at a time: for screen readers, and for whoever wants the digits.

import { element } from "./dom.js";
import { extent, short, whole } from "./format.js";
import { literal } from "./marks.js";
import { cut, readable } from "./tooltip.js";

/** @import { Model } from "./model_types" */
/** @import { TableEvents, TokenTable } from "./view_types" */

/** @typedef {{ first: number; stop: number }} Page */

/**
 * @typedef {object} State
 * @property {HTMLElement} box
 * @property {HTMLElement} button
 * @property {TableEvents} on
 * @property {Model} model
 * @property {number} at
 * @property {{ model: Model; first: number } | null} drawn
 */

/** Tokens on one page; a table of 100,000 rows would stop the browser. */
export const PAGE_TOKENS = 200;

/**
 * The page of `n` tokens that holds token `index`, as {first, stop}; an index outside means the nearest page.
 * @param {number} index
 * @param {number} n
 * @returns {Page}
 */
export function pageOf(index, n) {
  const inside = Math.min(Math.max(index, 0), Math.max(0, n - 1));
  const first = inside - (inside % PAGE_TOKENS);
  return { first, stop: Math.min(n, first + PAGE_TOKENS) };
}

/**
 * The table in `box`, hidden until asked for. `on` holds what it tells: go(index) when a token is chosen, leave() when it closes, here() for the
 * token to open at. `button` opens and closes it.
 * @param {HTMLElement} box
 * @param {TableEvents} on
 * @returns {TokenTable}
 */
export function createTable(box, on) {
  const button = element(
    "button",
    "tv-zoom tv-table-button",
    { type: "button", title: "table of the tokens and their numbers", "aria-expanded": "false" },
    "table",
  );
  // The model comes with the first `show`.
  const state = /** @type {State} */ (/** @type {unknown} */ ({ box, button, on, model: null, at: 0, drawn: null }));
  button.onclick = () => toggleTable(state);
  box.onkeydown = (event) => tableKey(state, event);
  return {
    button,
    show(model) {
      state.model = model;
      button.hidden = model.n === 0;
      if (model.n === 0) openTable(state, false);
      else if (!box.hidden) turnPage(state, 0, false);
    },
    toggle: () => toggleTable(state),
  };
}

/** @param {State} state */
function toggleTable(state) {
  if (state.box.hidden) {
    openTable(state, true);
    turnPage(state, state.on.here(), true);
  } else {
    openTable(state, false);
    state.on.leave();
  }
}

/**
 * @param {State} state
 * @param {boolean} shown
 */
function openTable(state, shown) {
  state.box.hidden = !shown;
  state.button.setAttribute("aria-expanded", String(shown));
  if (shown) return;
  state.box.replaceChildren();
  state.drawn = null;
}

/**
 * Shows the page that holds token `index`, and moves the keyboard to its row.
 * @param {State} state
 * @param {number} index
 * @param {boolean} focus
 */
function turnPage(state, index, focus) {
  const { box, model } = state;
  const page = pageOf(index, model.n);
  state.at = Math.min(page.stop - 1, Math.max(page.first, index));
  if (state.drawn?.model !== model || state.drawn.first !== page.first) drawPage(state, page);
  const names = /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(".tv-row-name"));
  for (const name of names) if (name.tabIndex === 0) name.tabIndex = -1;
  const name = names[state.at - page.first];
  name.tabIndex = 0;
  if (focus) name.focus();
}

/**
 * @param {State} state
 * @param {Page} page
 */
function drawPage(state, page) {
  const { box, model } = state;
  const rows = [];
  for (let i = page.first; i < page.stop; i += 1) rows.push(tokenRow(state, i));
  const table = element("table", "tv-table", {}, tableCaption(model, page), columnsOf(model), element("tbody", "", {}, ...rows));
  const scroller = element("div", "tv-table-scroll", {}, table);
  const content = element("div", "", {}, pager(state, page), scroller);
  box.replaceChildren(content);
  state.drawn = { model, first: page.first };
}

/**
 * @param {Model} model
 * @param {Page} page
 */
function tableCaption(model, { first, stop }) {
  const which = extent(model.start + first, stop - first, model.total);
  return element(
    "caption",
    "tv-dim",
    {},
    `${which}; arrow keys move, Page Up and Page Down turn pages, Enter goes to the token, Escape closes`,
  );
}

/** @param {Model} model */
function columnsOf(model) {
  /** @param {{ name: string; unit?: string }} column */
  const named = ({ name, unit = "" }) => element("th", "", { scope: "col" }, name, element("div", "tv-column-unit", {}, unit));
  return element("thead", "", {}, element("tr", "", {}, ...[{ name: "token" }, { name: "text" }, ...model.metrics].map(named)));
}

/**
 * @param {State} state
 * @param {number} i
 */
function tokenRow(state, i) {
  const { model, on } = state;
  const number = element(
    "button",
    "tv-row-name",
    { type: "button", tabIndex: -1, title: "go to this token" },
    whole(model.start + i + 1),
  );
  number.onclick = () => on.go(i);
  const masked = model.counts[i] === 0;
  const text = element(
    "td",
    "tv-row-text",
    {},
    element("bdi", "", {}, literal(cut(readable(model, i)))),
    ...(masked ? [" (masked)"] : []),
  );
  const numbers = model.metrics.map(({ values }) =>
    element("td", "tv-num", {}, Number.isNaN(values[i]) ? "missing" : short(values[i])),
  );
  return element("tr", masked ? "tv-masked" : "", {}, element("th", "tv-num", { scope: "row" }, number), text, ...numbers);
}

/**
 * @param {State} state
 * @param {Page} page
 */
function pager(state, { first, stop }) {
  const { model } = state;
  /**
   * @param {string} label
   * @param {number} to
   * @param {boolean} there
   */
  const step = (label, to, there) => {
    const made = element("button", "tv-zoom", { type: "button", disabled: !there }, label);
    made.onclick = () => turnPage(state, to, true);
    return made;
  };
  const away = element("button", "tv-zoom", { type: "button" }, "close the table");
  away.onclick = () => toggleTable(state);
  return element(
    "div",
    "tv-pager",
    {},
    step("previous page", first - PAGE_TOKENS, first > 0),
    step("next page", stop, stop < model.n),
    away,
  );
}

/**
 * @param {State} state
 * @param {KeyboardEvent} event
 */
function tableKey(state, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { at, model } = state;
  const last = model.n - 1;
  /** @type {Record<string, number | undefined>} */
  const places = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + PAGE_TOKENS, PageUp: at - PAGE_TOKENS, Home: 0, End: last };
  const to = places[event.key];
  if (to === undefined && event.key !== "Escape") return;
  event.preventDefault();
  event.stopPropagation();
  if (event.key === "Escape") toggleTable(state);
  else turnPage(state, Math.min(last, Math.max(0, to ?? at)), true);
}
