// Puts a text into the page as a text node: never as markup.

/** @import { Mounted } from "../streamlit" */

/** @param {Mounted<{ text: string; empty: string; height: number | null }>} mounted */
export default function ({ data, parentElement }) {
  /** @type {HTMLElement | null} */
  let pane = parentElement.querySelector(".verbatim");
  if (!pane) {
    pane = document.createElement("div");
    pane.className = "verbatim";
    pane.translate = false;
    parentElement.append(pane);
  }
  const text = data.text || data.empty;
  pane.classList.toggle("verbatim-empty", !data.text);
  pane.style.maxHeight = data.height ? `${data.height}px` : "none";
  pane.tabIndex = data.height ? 0 : -1;
  if (pane.textContent !== text) {
    pane.textContent = text;
    pane.scrollTop = 0;
  }
}
