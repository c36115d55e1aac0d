// What a reader does with the whole table: finds a text in it, copies it, saves it. And the whole text of a cell that is cut.

import { element } from "../token_view/dom.js";
import { separatedByCommas, separatedByTabs } from "./taken_rows.js";

/** @import { State } from "./types" */

const KEPT = 10_000; // milliseconds until what was saved is let go of
const WAIT = 120; // milliseconds after a letter until rows are searched

/**
 * Fills the bar of tools.
 * @param {State} state
 * @param {(query: string) => void} search
 */
export function fillTools(state, search) {
  const { tools, find, found } = state.parts;
  let waiting = 0;
  find.oninput = () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => search(find.value), WAIT);
  };
  find.onkeydown = (event) => {
    event.stopPropagation(); // letters are no keys of the page here
    if (event.key !== "Escape") return;
    clearTimeout(waiting);
    openSearch(state, false);
    search("");
  };
  tools.onkeydown = (event) => event.stopPropagation();
  const looking = toolButton("Find", () => openSearch(state, find.hidden === true));
  const saving = toolButton("CSV", () => save(state));
  tools.append(looking, find, found, saving);
  // a page that came over plain HTTP from another machine has no clipboard
  if (navigator.clipboard)
    tools.append(toolButton("Copy", () => navigator.clipboard.writeText(separatedByTabs(state.columns, state.order))));
}

/**
 * @param {string} name
 * @param {() => void} onclick
 */
function toolButton(name, onclick) {
  const told = { Find: "Find in these rows", CSV: "Save these rows as CSV", Copy: "Copy these rows" }[name] ?? name;
  return element("button", "tb-tool", { type: "button", title: told, "aria-label": told, onclick }, name);
}

/**
 * @param {State} state
 * @param {boolean} open
 */
export function openSearch({ parts, query }, open) {
  if (!open && query) return parts.find.focus();
  parts.find.hidden = !open;
  parts.found.textContent = "";
  if (open) parts.find.focus();
  else parts.scroller.focus({ preventScroll: true });
}

/** @param {State} state */
export function tellFound({ parts, query, order, meta }) {
  parts.found.textContent = query ? `${order.length.toLocaleString("en")} of ${meta.rows.toLocaleString("en")}` : "";
}

/** @param {State} state */
function save({ columns, order, meta }) {
  const blob = new Blob([separatedByCommas(columns, order)], { type: "text/csv" });
  const name = meta.name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80) || "table";
  const href = URL.createObjectURL(blob);
  element("a", "", { href, download: `${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT);
}

/**
 * What a copy takes: what is marked, else the row that the keys are at.
 * @param {State} state
 * @param {ClipboardEvent} event
 */
export function copied(state, event) {
  if (String(document.getSelection() ?? "") || state.parts.find.contains(/** @type {Node} */ (event.target))) return;
  const row = state.order[state.at];
  if (row === undefined || !event.clipboardData) return;
  event.clipboardData.setData("text/plain", separatedByTabs(state.columns, [row]));
  event.preventDefault();
}

/**
 * Shows a cell's whole text over the table, until the reader leaves it.
 * @param {State} state
 * @param {HTMLElement} cell
 * @param {number} at its place in the order
 * @param {number} column
 */
export function showWhole(state, cell, at, column) {
  const { root, scroller } = state.parts;
  const [box, around] = [cell.getBoundingClientRect(), root.getBoundingClientRect()];
  const whole = element("div", "tb-whole", { tabIndex: -1, role: "dialog", "aria-label": state.columns[column].label });
  whole.textContent = state.columns[column].whole(state.order[at]) || state.columns[column].text(state.order[at]);
  const close = () => {
    whole.onblur = null; // it loses the focus as it goes
    whole.remove();
  };
  whole.onkeydown = (event) => {
    event.stopPropagation();
    if (event.key !== "Escape") return;
    close();
    scroller.focus({ preventScroll: true });
  };
  whole.onblur = close;
  root.append(whole);
  const left = Math.max(0, Math.min(box.left - around.left, around.width - whole.offsetWidth));
  Object.assign(whole.style, { top: `${box.top - around.top}px`, left: `${left}px` });
  whole.focus({ preventScroll: true });
}
