// Lines that unfold. Text only ever enters the page as text nodes; which lines are open is kept for the browser's tab, by their names.

/** @import { Mounted, Parent } from "../streamlit" */

/** @typedef {{ name: string; line: string; text: string; note: string }} Line */

const SHELF = "rl-logging-board.folded.";

/**
 * @param {string} key
 * @returns {Set<string>}
 */
function openNames(key) {
  try {
    return new Set(JSON.parse(sessionStorage.getItem(SHELF + key) ?? "[]"));
  } catch {
    // Storage is refused, or holds something else: everything is folded.
    return new Set();
  }
}

/**
 * @param {string} key
 * @param {string} name
 * @param {boolean} open
 */
function keepOpen(key, name, open) {
  const names = openNames(key);
  if (open) names.add(name);
  else names.delete(name);
  try {
    sessionStorage.setItem(SHELF + key, JSON.stringify([...names]));
  } catch {
    // Without storage the lines stay as they are until the page is drawn anew.
  }
}

/**
 * @param {string} tag
 * @param {string} name
 * @param {string} text
 */
function part(tag, name, text) {
  const made = document.createElement(tag);
  made.className = name;
  made.textContent = text;
  return made;
}

/**
 * @param {string} key
 * @param {Line} line
 * @param {boolean} open
 */
function drawLine(key, { name, line, text, note }, open) {
  const whole = part("div", "folded-text", text);
  whole.tabIndex = 0;
  const head = document.createElement("summary");
  head.append(part("span", "folded-name", name), part("span", "folded-line", line), part("span", "folded-note", note));
  const made = document.createElement("details");
  made.append(head, whole);
  made.toggleAttribute("data-repeats", text.startsWith(line.slice(0, 20)));
  made.open = open;
  made.ontoggle = () => keepOpen(key, name, made.open);
  return made;
}

/** @param {Mounted<{ key: string; lines: Line[] }>} mounted */
export default function ({ data, parentElement }) {
  const told = JSON.stringify(data);
  const parent = /** @type {Parent & { told?: string }} */ (parentElement);
  if (parent.told === told) return;
  parent.told = told;
  /** @type {HTMLElement | null} */
  let box = parentElement.querySelector(".folded");
  if (!box) {
    box = document.createElement("div");
    box.className = "folded";
    box.translate = false;
    parentElement.append(box);
  }
  const open = openNames(data.key);
  box.replaceChildren(...data.lines.map((line) => drawLine(data.key, line, open.has(line.name))));
}
