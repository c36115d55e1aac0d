// Puts a text into the page as a text node: never as markup.

import { made } from "../elements.js";

/** @import { Mounted } from "../streamlit" */

/** @param {Mounted<{ text: string; caption: string; empty: string; height: number | null; mark: [number, number] | null }>} mounted */
export default function ({ data, parentElement }) {
  const pane = /** @type {HTMLElement} */ (parentElement.querySelector(".verbatim") ?? mountedIn(parentElement));
  const caption = /** @type {HTMLElement} */ (pane.previousElementSibling);
  caption.textContent = data.caption;
  caption.hidden = !data.caption;
  const text = data.text || data.empty;
  pane.classList.toggle("verbatim-empty", !data.text);
  pane.style.maxHeight = data.height ? `${data.height}px` : "none";
  pane.tabIndex = data.height ? 0 : -1;
  const marked = String(data.mark);
  if (pane.textContent === text && pane.dataset.mark === marked) return;
  pane.dataset.mark = marked;
  pane.scrollTop = 0;
  if (data.mark) showMarked(pane, text, data.mark);
  else pane.textContent = text;
}

/**
 * The pane, below its caption.
 * @param {ParentNode} parent
 */
function mountedIn(parent) {
  const pane = made("div", "verbatim");
  pane.translate = false;
  parent.append(made("p", "verbatim-caption"), pane);
  return pane;
}

/**
 * The text with a stretch of it marked, and in view.
 * @param {HTMLElement} pane
 * @param {string} text
 * @param {[number, number]} stretch
 */
function showMarked(pane, text, [start, stop]) {
  const mark = document.createElement("mark");
  mark.textContent = text.slice(start, stop);
  pane.replaceChildren(text.slice(0, start), mark, text.slice(stop));
  pane.scrollTop = mark.offsetTop - pane.clientHeight / 2;
  keepInView(mark);
}

/**
 * In the window, however what stands above grows while the page is built, until the reader moves on.
 * @param {HTMLElement} mark
 */
function keepInView(mark) {
  const watch = new IntersectionObserver((seen) => {
    if (!seen.at(-1)?.isIntersecting) mark.scrollIntoView({ block: "nearest" });
  });
  watch.observe(mark);
  for (const kind of ["wheel", "pointerdown", "keydown"]) {
    addEventListener(kind, () => watch.disconnect(), { once: true, capture: true, passive: true });
  }
}
