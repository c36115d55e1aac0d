// A tree of responses that begin alike: rows that unfold, walked by arrow keys. Model text only ever enters the page as text nodes.

import { branchesOf, depthsOf, openAtFirst, visibleRows } from "./tree_rows.js";

/** @import { Mounted, Parent } from "../streamlit" */
/** @import { Row } from "./tree_rows" */

/** @typedef {{ rows: Row[]; height: number; color: string }} Data */

/**
 * @typedef {object} State
 * @property {HTMLElement} pane
 * @property {string} shown
 * @property {Data} data
 * @property {number[][]} branches
 * @property {number[]} depths
 * @property {Set<number>} open
 * @property {number} here
 * @property {(at: number) => void} go
 */

const INDENT = 16; // pixels of a level
const DEEPEST = 20; // levels that are indented: deeper ones would leave the pane

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();

/** @param {Mounted<Data>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const state = states.get(parentElement) ?? build(parentElement, data);
  states.set(parentElement, state);
  state.go = (at) => setTriggerValue("clicked", at);
  state.pane.style.maxHeight = `${data.height}px`;
  const shown = JSON.stringify(data.rows);
  if (state.shown === shown) return;
  const [branches, depths] = [branchesOf(data.rows), depthsOf(data.rows)];
  Object.assign(state, { shown, data, branches, depths, open: openAtFirst(data.rows, branches), here: 0 });
  draw(state);
}

/**
 * @param {Parent} parent
 * @param {Data} data
 * @returns {State}
 */
function build(parent, data) {
  const pane = document.createElement("div");
  pane.className = "pt";
  pane.translate = false;
  pane.setAttribute("role", "tree");
  parent.append(pane);
  /** @type {State} */
  const state = { pane, shown: "", data, branches: [], depths: [], open: new Set(), here: 0, go: () => {} };
  pane.onkeydown = (event) => key(state, event);
  return state;
}

/**
 * Draws the rows that are unfolded; `focus` moves the keyboard to the row it was on.
 * @param {State} state
 * @param {boolean} [focus]
 */
function draw(state, focus = false) {
  const rows = visibleRows(state.branches, state.open);
  if (!rows.includes(state.here)) state.here = rows[0] ?? 0;
  state.pane.replaceChildren(...rows.map((at) => drawRow(state, at)));
  if (focus) rowOf(state, state.here)?.focus();
}

/**
 * @param {State} state
 * @param {number} at
 */
function drawRow(state, at) {
  const row = state.data.rows[at];
  const made = part("div", "pt-row", "");
  const [forks, open, depth] = [state.branches[at].length > 0, state.open.has(at), state.depths[at]];
  made.dataset.at = String(at);
  made.dataset.marked = String(row.marked);
  made.tabIndex = at === state.here ? 0 : -1;
  made.setAttribute("role", "treeitem");
  made.setAttribute("aria-level", String(depth + 1));
  if (forks) made.setAttribute("aria-expanded", String(open));
  made.style.paddingLeft = `${6 + INDENT * Math.min(depth, DEEPEST)}px`;
  const fold = part("button", "pt-fold", forks ? (open ? "▾" : "▸") : "");
  fold.tabIndex = -1;
  fold.ariaHidden = "true";
  if (forks)
    fold.onclick = (event) => {
      event.stopPropagation();
      toggle(state, at, !open);
    };
  made.append(fold, part("span", row.text ? "pt-text" : "pt-text pt-none", shownText(row)), ...numbers(state, row));
  made.onclick = () => state.go(at);
  return made;
}

/** @param {Row} row */
function shownText({ text }) {
  return text ? text.replaceAll("\n", "↵").replaceAll("\t", "⇥") : "nothing in common";
}

/**
 * @param {State} state
 * @param {Row} row
 */
function numbers({ data }, { length, count, mean, place, told }) {
  const parts = [part("span", "pt-told", told), part("span", "pt-length", length), part("span", "pt-count", count)];
  if (place !== null) {
    const bar = part("span", "pt-bar", "");
    const fill = part("i", "", "");
    Object.assign(fill.style, { width: `${100 * place}%`, background: data.color });
    bar.append(fill);
    parts.push(bar);
  }
  return [...parts, part("span", "pt-mean", mean)];
}

/**
 * @param {State} state
 * @param {number} at
 * @param {boolean} open
 */
function toggle(state, at, open) {
  if (open) state.open.add(at);
  else state.open.delete(at);
  state.here = at;
  draw(state, true);
}

/**
 * The keys of a tree: up and down, right to unfold, left to fold or go to the parent, Enter to go to the text.
 * @param {State} state
 * @param {KeyboardEvent} event
 */
function key(state, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = visibleRows(state.branches, state.open);
  const at = rows.indexOf(state.here);
  const [here, forks, open] = [state.here, state.branches[state.here]?.length > 0, state.open.has(state.here)];
  /** @type {Record<string, () => void>} */
  const actions = {
    ArrowDown: () => walk(state, rows[at + 1]),
    ArrowUp: () => walk(state, rows[at - 1]),
    Home: () => walk(state, rows[0]),
    End: () => walk(state, rows.at(-1)),
    ArrowRight: () => (forks && !open ? toggle(state, here, true) : walk(state, state.branches[here]?.[0])),
    ArrowLeft: () => (forks && open ? toggle(state, here, false) : walk(state, state.data.rows[here]?.parent)),
    Enter: () => state.go(here),
    " ": () => state.go(here),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}

/**
 * @param {State} state
 * @param {number | undefined} to
 */
function walk(state, to) {
  const next = to === undefined || to < 0 ? null : rowOf(state, to);
  if (!next) return;
  const before = rowOf(state, state.here);
  if (before) before.tabIndex = -1;
  state.here = /** @type {number} */ (to);
  next.tabIndex = 0;
  next.focus();
}

/**
 * @param {State} state
 * @param {number} at
 * @returns {HTMLElement | null}
 */
function rowOf({ pane }, at) {
  return pane.querySelector(`[data-at="${at}"]`);
}

/**
 * @param {string} tag
 * @param {string} name
 * @param {string} text
 */
function part(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}
