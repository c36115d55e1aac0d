// The list of all keys in a dialog, opened by a button or by "?".

import { whenGone } from "../leaving.js";
import { KEYS } from "../token_view/key_names.js";

/** @import { Mounted, Parent } from "../streamlit" */

/** @typedef {[title: string, keys: string[][]]} Section */

/** @type {WeakMap<Parent, () => void>} what takes the button away again, whichever draw is told that it leaves the page */
const leaving = new WeakMap();

/** @param {Mounted<{ sections: Section[]; tokens: string }>} mounted */
export default function ({ data, parentElement }) {
  const known = leaving.get(parentElement);
  if (known) return known;
  const button = made("button", "?", { type: "button", title: "keyboard shortcuts", ariaLabel: "keyboard shortcuts" });
  const dialog = made("dialog", "", { ariaLabel: "keyboard shortcuts" });
  /** @type {Section} */
  const ofTokens = [data.tokens, KEYS];
  for (const [title, keys] of [...data.sections, ofTokens]) {
    const list = made("dl", "");
    list.append(...keys.flatMap(([key, does]) => [made("dt", key), made("dd", does)]));
    dialog.append(made("h2", title), list);
  }
  const close = made("button", "Close", { type: "button" });
  dialog.append(close);
  parentElement.append(button, dialog);
  const toggle = () => (dialog.open ? dialog.close() : dialog.showModal());
  button.onclick = toggle;
  close.onclick = toggle;
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close(); // beside the list
  };
  /** @param {KeyboardEvent} event */
  const listen = (event) => {
    const into = event.composedPath()[0];
    const typing = into instanceof Element && into.closest("input, textarea, select, [contenteditable]");
    if (event.key !== "?" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    toggle();
  };
  document.addEventListener("keydown", listen);
  const leave = whenGone(parentElement, () => {
    document.removeEventListener("keydown", listen);
    leaving.delete(parentElement);
    button.remove();
    dialog.remove();
  });
  leaving.set(parentElement, leave);
  return leave;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} name
 * @param {string} text
 * @param {object} [properties]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function made(name, text, properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text }, properties);
}
