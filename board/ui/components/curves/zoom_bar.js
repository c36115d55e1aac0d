// What can be done with the steps in view, on the panel that they were brushed over on.

import { element } from "../token_view/dom.js";
import { stepText } from "./number_text.js";

/** @import { Acts, Range } from "./types" */

/**
 * @param {Acts} acts
 * @returns {HTMLElement}
 */
export function zoomBar(acts) {
  const keep = element("button", "cv-keep", { type: "button", onclick: () => acts.keep() });
  const all = element("button", "cv-all", { type: "button", onclick: () => acts.zoom(null) }, "All steps");
  const bar = element("div", "cv-zoom", {}, keep, all);
  for (const name of /** @type {const} */ (["onclick", "onmousedown", "onpointerdown", "ondblclick"]))
    bar[name] = (/** @type {Event} */ event) => event.stopPropagation();
  return bar;
}

/**
 * @param {HTMLElement} bar
 * @param {Range} zoom
 * @param {import("./types").Meta["axis"]} axis
 */
export function showZoom(bar, [from, to], { word, keeps }) {
  const [keep, all] = /** @type {HTMLElement[]} */ ([...bar.children]);
  keep.hidden = !keeps;
  all.textContent = word === "step" ? "All steps" : "All";
  keep.textContent = `Keep steps ${stepText(from)}–${stepText(to)} on every page`;
}
