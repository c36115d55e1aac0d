// Keys of a page: heard wherever the reader is, but in what takes keys itself.

import { whenGone } from "../leaving.js";

/** @import { Mounted, Parent } from "../streamlit" */

const TAKES_KEYS = "input, textarea, select, button, a, summary, [contenteditable], [role=combobox]";

/** @type {WeakMap<Parent, AbortController>} */
const listening = new WeakMap();

/** @param {Mounted<{ keys: Record<string, string> }>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  listening.get(parentElement)?.abort(); // of the draw before, which is not told that another comes
  const now = new AbortController();
  listening.set(parentElement, now);
  /** @param {KeyboardEvent} event */
  const listen = (event) => {
    const into = event.composedPath()[0];
    const meant = data.keys[event.key];
    if (!meant || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (into instanceof Element && into.closest(TAKES_KEYS)) return;
    event.preventDefault();
    setTriggerValue("pressed", meant);
  };
  document.addEventListener("keydown", listen, { signal: now.signal });
  return whenGone(parentElement, () => now.abort());
}
