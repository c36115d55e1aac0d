// A field that shows what is chosen, opens a list, and finds in it what is typed; beside it a step to either side, and keys for both.

import { button, made } from "../elements.js";
import { whenGone } from "../leaving.js";
import { whenThere } from "../page_on_its_way.js";
import { listed, matching } from "./matching.js";

/** @import { Mounted, Parent } from "../streamlit" */

/** @typedef {{ text: string | null; key: string; does: string }} Neighbour */

/**
 * @typedef {object} Choice
 * @property {string} label
 * @property {string[]} options
 * @property {string | null} chosen
 * @property {number} width
 * @property {string} placeholder
 * @property {string} note
 * @property {boolean} takesOthers
 * @property {Neighbour[]} neighbours
 */

/**
 * @typedef {object} State
 * @property {HTMLElement} root
 * @property {HTMLElement} label
 * @property {HTMLInputElement} input
 * @property {HTMLElement} list
 * @property {HTMLButtonElement[]} sides
 * @property {Choice} data
 * @property {string | null} shown what the field says: what the reader chose, before the page has followed
 * @property {string | null} told the option that the page was asked for last, and has not followed to
 * @property {boolean} open
 * @property {number} at the marked row of the open list
 * @property {number} settling
 * @property {boolean} elsewhere whether the reader has clicked something else since
 * @property {AbortController} listening
 * @property {(text: string) => void} tell
 */

const MOST_ROWS = 200;
const FOLLOWS_WITHIN = 3000; // milliseconds: by then the page has followed a choice, or will not

const TAKES_KEYS = "input, textarea, select, [contenteditable], [role=combobox]";

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();

/** @param {Mounted<Choice>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const state = states.get(parentElement) ?? build(parentElement, data);
  states.set(parentElement, state);
  state.data = data;
  state.tell = (text) => whenThere(() => setTriggerValue("chosen", text));
  if (data.chosen === state.told) state.told = null;
  if (!state.settling || (state.told === null && data.chosen === state.shown)) settle(state);
  else if (state.told === null && state.shown !== null) ask(state, state.shown);
  state.label.textContent = data.label;
  state.input.setAttribute("aria-label", data.label);
  state.input.placeholder = data.placeholder;
  state.input.style.width = `${data.width}px`;
  draw(state);
  return whenGone(parentElement, () => {
    state.listening.abort();
    clearTimeout(state.settling);
    states.delete(parentElement);
    state.root.remove();
  });
}

/**
 * @param {Parent} parentElement
 * @param {Choice} data
 * @returns {State}
 */
function build(parentElement, data) {
  const root = made("div", "pick");
  const label = made("span", "pick-label", "", { "aria-hidden": "true" });
  const line = made("div", "pick-line");
  const field = made("div", "pick-field");
  const input = made("input", "pick-input", "", {
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-controls": "pick-list",
    "aria-expanded": "false",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
  });
  const list = made("div", "pick-list", "", { role: "listbox", id: "pick-list" });
  list.hidden = true;
  list.onmousedown = (event) => event.preventDefault(); // the keyboard stays in the field, and so the list open: beside its rows, too
  field.append(input, list);
  /** @type {State} */
  const state = {
    ...{ root, label, input, list, sides: [], data, shown: null, told: null, open: false, at: 0, settling: 0, tell: () => {} },
    ...{ elsewhere: false, listening: new AbortController() },
  };
  state.sides = data.neighbours.map(({ key, does }, side) => {
    const one = button("pick-side", side ? "▶" : "◀", `${does} (${key})`, () => aside(state, side));
    one.append(made("kbd", "pick-key", key, { "aria-hidden": "true" }));
    return one;
  });
  line.append(...state.sides.slice(0, 1), field, ...state.sides.slice(1));
  root.append(label, line);
  input.onpointerdown = () => {
    if (!state.open) open(state);
  };
  input.oninput = () => {
    state.open = true;
    fill(state, input.value);
  };
  input.onblur = () => close(state);
  input.onkeydown = (event) => typed(state, event);
  // Once, not at each draw: only the last draw is told when the list leaves the page, and what listened on would lead to steps of before.
  document.addEventListener("keydown", (event) => pressed(state, event), { signal: state.listening.signal });
  const clicked = (/** @type {Event} */ event) => (state.elsewhere ||= !event.composedPath().includes(root));
  document.addEventListener("click", clicked, { capture: true, signal: state.listening.signal });
  parentElement.append(root);
  return state;
}

/** @param {State} state */
function draw(state) {
  if (!state.open) state.input.value = state.shown ?? "";
  for (const [side, one] of state.sides.entries()) one.disabled = beside(state, side) === null;
}

/**
 * Take over what the page says is chosen.
 * @param {State} state
 */
function settle(state) {
  clearTimeout(state.settling);
  state.settling = 0;
  state.told = null;
  state.shown = state.data.chosen;
}

/**
 * Ask the page for an option, and wait until it has followed: of requests that come while it draws, Streamlit may lose any, the last too.
 * So it is asked once more, where it stands as it stood and the reader clicked nothing else meanwhile, which would be undone.
 * @param {State} state
 * @param {string} text
 * @param {boolean} again
 */
function ask(state, text, again = false) {
  const before = state.data.chosen;
  Object.assign(state, { told: text, elsewhere: false });
  clearTimeout(state.settling);
  state.settling = setTimeout(() => {
    if (state.shown !== null && state.shown !== text) return ask(state, state.shown);
    if (!again && !state.elsewhere && state.data.chosen === before) return ask(state, text, true);
    settle(state);
    draw(state);
  }, FOLLOWS_WITHIN);
  state.tell(text);
}

/**
 * What stands beside the one that is shown; the list itself knows where the page has not followed yet.
 * @param {State} state
 * @param {number} side
 * @returns {string | null}
 */
function beside({ data, shown }, side) {
  if (shown === data.chosen) return data.neighbours[side]?.text ?? null;
  const at = shown === null ? -1 : data.options.indexOf(shown);
  return at < 0 ? null : (data.options[at + (side ? 1 : -1)] ?? null);
}

/**
 * @param {State} state
 * @param {number} side
 */
function aside(state, side) {
  const text = beside(state, side);
  if (text !== null) choose(state, text);
}

/**
 * Tell the page, and show the choice at once: the next press goes on from there.
 * @param {State} state
 * @param {string} text
 */
function choose(state, text) {
  const listed = state.data.options.includes(text);
  if (listed) state.shown = text;
  else settle(state);
  close(state);
  if (!listed) state.tell(text);
  else if (state.told === null) ask(state, text);
}

/** @param {State} state */
function open(state) {
  state.open = true;
  fill(state, "");
  requestAnimationFrame(() => state.input.select());
}

/** @param {State} state */
function close(state) {
  state.open = false;
  state.list.hidden = true;
  state.list.replaceChildren();
  state.input.setAttribute("aria-expanded", "false");
  state.input.removeAttribute("aria-activedescendant");
  draw(state);
}

/**
 * Fill the list with what the text may mean; all of it where there is no text.
 * @param {State} state
 * @param {string} text
 */
function fill(state, text) {
  const { options, note } = state.data;
  const now = state.shown === null ? -1 : options.indexOf(state.shown);
  const { listed: places, left } = listed(matching(options, text), text ? -1 : now, MOST_ROWS);
  const rows = places.map((at, row) => {
    const one = made("div", "pick-row", options[at], { role: "option", id: `pick-row-${row}` });
    one.toggleAttribute("data-now", at === now);
    one.onclick = () => choose(state, options[at]);
    return one;
  });
  const said = [left ? `${left.toLocaleString("en")} more: type a part of it.` : "", rows.length ? "" : "None like it.", note];
  const words = said.filter(Boolean).join(" ");
  state.list.replaceChildren(...rows, ...(words ? [made("div", "pick-note", words)] : []));
  state.list.hidden = false;
  state.input.setAttribute("aria-expanded", "true");
  mark(state, text ? 0 : Math.max(0, places.indexOf(now)));
}

/**
 * @param {State} state
 * @param {number} at
 */
function mark(state, at) {
  const rows = state.list.querySelectorAll(".pick-row");
  if (!rows.length) return state.input.removeAttribute("aria-activedescendant");
  state.at = (at + rows.length) % rows.length;
  for (const [row, one] of rows.entries()) one.setAttribute("aria-selected", String(row === state.at));
  rows[state.at].scrollIntoView({ block: "nearest" });
  state.input.setAttribute("aria-activedescendant", rows[state.at].id);
}

/**
 * @param {State} state
 * @param {KeyboardEvent} event
 */
function typed(state, event) {
  const down = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
  if (down) {
    event.preventDefault();
    if (state.open) mark(state, state.at + down);
    else open(state);
  } else if (event.key === "Enter") {
    event.preventDefault();
    if (state.open) take(state);
    else open(state);
  } else if (event.key === "Escape" && state.open) {
    event.preventDefault();
    close(state);
  }
}

/**
 * The marked row; what was typed where that is taken and stands in no row.
 * @param {State} state
 */
function take(state) {
  const text = state.input.value.trim();
  const row = state.list.querySelectorAll(".pick-row")[state.at];
  const meant = row?.textContent ?? "";
  if (state.data.takesOthers && text && text !== meant && !state.data.options.includes(text) && text !== state.shown)
    choose(state, text);
  else if (row) choose(state, meant);
}

/**
 * A key of one of the sides, wherever the reader is, but in what takes keys itself.
 * @param {State} state
 * @param {KeyboardEvent} event
 */
function pressed(state, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const into = event.composedPath()[0];
  if (into instanceof Element && into.closest(TAKES_KEYS)) return;
  const side = state.data.neighbours.findIndex(({ key }) => key.toLowerCase() === event.key.toLowerCase());
  if (side < 0) return;
  event.preventDefault();
  aside(state, side);
}
