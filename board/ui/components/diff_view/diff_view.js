// Puts runs of text into the page as text nodes, never as markup; a folded run is a button until it is asked for.

/** @import { Mounted } from "../streamlit" */

/** @typedef {{ side: "both" | "old" | "new"; text: string; fold: string }} Run */

/** @type {Record<Run["side"], "span" | "del" | "ins">} */
const TAGS = { both: "span", old: "del", new: "ins" };

/**
 * @param {Run} run
 * @returns {HTMLElement}
 */
function drawn(run) {
  if (!run.fold) {
    const words = document.createElement(TAGS[run.side]);
    words.textContent = run.text;
    return words;
  }
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = run.fold;
  element.addEventListener("click", () => {
    const opened = drawn({ ...run, fold: "" });
    opened.tabIndex = -1;
    element.replaceWith(opened);
    opened.focus({ preventScroll: true });
  });
  return element;
}

/** @param {Mounted<{ runs: Run[]; height: number | null }>} mounted */
export default function ({ data, parentElement }) {
  /** @type {(HTMLElement & { shown?: string }) | null} */
  let pane = parentElement.querySelector(".diff");
  if (!pane) {
    pane = document.createElement("div");
    pane.className = "diff";
    pane.translate = false;
    parentElement.append(pane);
  }
  pane.style.maxHeight = data.height ? `${data.height}px` : "none";
  pane.tabIndex = data.height ? 0 : -1;
  const shown = JSON.stringify(data.runs);
  if (pane.shown !== shown) {
    pane.shown = shown;
    pane.replaceChildren(...data.runs.map(drawn));
    pane.scrollTop = 0;
  }
}
