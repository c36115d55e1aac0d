// Keys of a page: heard wherever the reader is, but in what takes keys itself.

/** @import { Mounted } from "../streamlit" */

const TAKES_KEYS = "input, textarea, select, button, a, summary, [contenteditable], [role=combobox]";

/** @param {Mounted<{ keys: Record<string, string> }>} mounted */
export default function ({ data, setTriggerValue }) {
  /** @param {KeyboardEvent} event */
  const listen = (event) => {
    const into = event.composedPath()[0];
    const meant = data.keys[event.key];
    if (!meant || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (into instanceof Element && into.closest(TAKES_KEYS)) return;
    event.preventDefault();
    setTriggerValue("pressed", meant);
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}
