// Keyword in context: a row for each place, what was found in the middle; a click or Enter opens the rollout there.

import { whenGone } from "../leaving.js";

/** @import { Mounted, Parent } from "../streamlit" */

/**
 * @typedef {object} Row
 * @property {string} left
 * @property {string} match
 * @property {string} right
 * @property {string[]} facts
 * @property {string} column
 */

/** @typedef {{ rows: Row[]; heads: string[]; opened: number | null }} Lines */

/** @type {WeakMap<Parent, HTMLElement>} */
const tables = new WeakMap();

/** @param {Mounted<Lines>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  tables.get(parentElement)?.remove();
  const table = cell("div", "co", { role: "grid", "aria-label": "places found, in context" });
  table.style.gridTemplateColumns = `minmax(0, 1fr) fit-content(28%) minmax(0, 1fr) repeat(${data.heads.length}, max-content)`;
  table.append(headRow(data.heads), ...data.rows.map((one, at) => row(one, at === data.opened)));
  /** @param {Event} event */
  const opened = (event) => {
    const into = event.target instanceof Element ? event.target.closest(".co-row") : null;
    if (into) setTriggerValue("opened", [...table.querySelectorAll(".co-row")].indexOf(into));
  };
  table.onclick = (event) => {
    if (!String(document.getSelection() ?? "")) opened(event); // words may be marked and copied
  };
  table.onkeydown = (event) => {
    const by = event.key === "ArrowDown" || event.key === "j" ? 1 : event.key === "ArrowUp" || event.key === "k" ? -1 : 0;
    if (event.key === "Enter") opened(event);
    else if (!by || !move(table, event.target, by)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  tables.set(parentElement, table);
  parentElement.append(table);
  return whenGone(parentElement, () => {
    tables.delete(parentElement);
    table.remove();
  });
}

/**
 * @param {HTMLElement} table
 * @param {EventTarget | null} from
 * @param {number} by
 */
function move(table, from, by) {
  const rows = /** @type {HTMLElement[]} */ ([...table.querySelectorAll(".co-row")]);
  const next = rows[rows.indexOf(/** @type {HTMLElement} */ (from)) + by];
  next?.focus();
  return next !== undefined;
}

/** @param {string[]} heads */
function headRow(heads) {
  const one = cell("div", "co-head", { role: "row" });
  for (const name of ["left", "found", "right"])
    one.append(text(`co-${name}`, { left: "before", found: "found", right: "after" }[name] ?? ""));
  one.append(...heads.map((head) => text("co-fact", head)));
  return one;
}

/**
 * @param {Row} line
 * @param {boolean} isOpened
 */
function row(line, isOpened) {
  const one = cell("div", "co-row", { role: "row", tabindex: "0" });
  if (isOpened) one.setAttribute("aria-current", "true");
  const left = text("co-left", "");
  left.append(text("co-inner", line.left));
  const found = cell("mark", "co-found", {});
  found.textContent = line.match;
  one.append(left, found, text("co-right", line.right), ...line.facts.map((fact) => text("co-fact", fact)));
  one.title = line.column;
  return one;
}

/**
 * @param {string} className
 * @param {string} words
 */
function text(className, words) {
  const one = cell("span", className, {});
  one.textContent = words;
  return one;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {Record<string, string>} attributes
 */
function cell(tag, className, attributes) {
  const one = document.createElement(tag);
  one.className = className;
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  return one;
}
