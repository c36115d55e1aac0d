// How the text is drawn besides its metric: what one colour stands for, folding everything, marks on spaces.

import { element } from "./dom.js";
import { GRANULARITIES } from "./units.js";

/** @import { SwitchEvents, Switches } from "./view_types" */

/**
 * The granularity in `box`, buttons in `tools`. `on` holds what they tell: granularity(name), foldAll(), spaces(whether). `show(model)`
 * offers what the response has and returns whether spaces are marked.
 * @param {HTMLElement} box
 * @param {HTMLElement} tools
 * @param {SwitchEvents} on
 * @returns {Switches}
 */
export function createSwitches(box, tools, on) {
  const label = "what one colour stands for: a token, or the mean over a word, sentence or segment";
  const granularity = element("select", "tv-select tv-granularity", { "aria-label": label, title: label });
  granularity.append(...GRANULARITIES.map((name) => element("option", "", { value: name }, name)));
  granularity.onchange = () => on.granularity(granularity.value);
  // The view's own keys must not act on what is chosen here.
  granularity.onkeydown = (event) => event.stopPropagation();
  box.append(element("span", "tv-caption", {}, "colour each"), granularity, element("span", "tv-caption", {}, "by"));
  const fold = toolButton("tv-fold-all", "fold", "fold or unfold all segments");
  fold.onclick = () => on.foldAll();
  const spaces = toolButton("tv-spaces", "spaces", "mark every space with a dot");
  spaces.setAttribute("aria-pressed", "false");
  spaces.onclick = () => {
    const wanted = spaces.getAttribute("aria-pressed") !== "true";
    spaces.setAttribute("aria-pressed", String(wanted));
    on.spaces(wanted);
  };
  tools.append(fold, spaces);
  return {
    show(model) {
      box.hidden = model.metrics.length === 0;
      fold.hidden = model.folding.segments.length === 0;
      const bySegment = /** @type {HTMLOptionElement} */ (granularity.lastChild);
      bySegment.hidden = bySegment.disabled = fold.hidden;
      return spaces.getAttribute("aria-pressed") === "true";
    },
    mark(name) {
      granularity.value = name;
    },
  };
}

/**
 * @param {string} kind
 * @param {string} words
 * @param {string} label
 */
function toolButton(kind, words, label) {
  return element("button", `tv-zoom ${kind}`, { type: "button", title: label, "aria-label": label }, words);
}
