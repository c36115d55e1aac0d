// How a metric's colour range is chosen: the reader's switch, and its short form for links. The arithmetic is in scale.js.

import { COLOR_RANGES, colorRangeOf, mirror } from "./color_ranges.js";
import { element } from "./dom.js";

/** @import { ColorRange } from "./model_types" */
/** @import { Ends } from "./plain_types" */
/** @import { ColorRangeControl } from "./view_types" */

/** @type {Record<string, string>} */
const TITLES = {
  q: "from the 1 % to the 99 % quantile of this response: single spikes do not flatten the rest",
  step: "from the 1 % to the 99 % quantile of all tokens of this step: colours mean the same in all its responses",
  run: "from the 1 % to the 99 % quantile of all tokens of the run: colours mean the same in all its steps",
  full: "from the least to the greatest number of this response",
  log: "logarithmic, over the whole range: small numbers are told apart",
  fixed: "between two numbers of your own",
  hold: "keep the present range while moving to other rollouts, so that colours mean the same",
};

/** What is different where two responses are compared: a range of one alone would give a colour two meanings. */
const OF_ONE = ["full", "log", "hold"];
const OF_BOTH = {
  name: "range of both",
  title: "from the 1 % to the 99 % quantile of both responses: colours mean the same in both",
};

/**
 * The switch in `box`; `choose(range)` is called with the reader's choice, `ends()` gives the numbers in use now, `mirrored()` whether one is the other's negative.
 * @param {HTMLElement} box
 * @param {() => Ends} ends
 * @param {(range: ColorRange) => void} choose
 * @param {() => boolean} [mirrored]
 * @returns {ColorRangeControl}
 */
export function createColorRangeControl(box, ends, choose, mirrored = () => false) {
  const switcher = element("select", "tv-range-kind", { "aria-label": "range of the colours" });
  for (const [kind, name] of COLOR_RANGES) switcher.append(element("option", "", { value: kind, title: TITLES[kind] }, name));
  const low = element("input", "tv-input tv-end", {
    type: "text",
    inputMode: "decimal",
    "aria-label": "lower end of the colours",
  });
  const high = element("input", "tv-input tv-end", {
    type: "text",
    inputMode: "decimal",
    "aria-label": "upper end of the colours",
  });
  const note = element("span", "tv-range-note tv-dim", { role: "status" });
  box.append(switcher, low, high, note);
  switcher.onchange = () => choose(colorRangeOf(switcher.value, ends()));
  low.onchange = high.onchange = () => {
    /** @type {Ends} */
    const wanted = [numberIn(low), numberIn(high)];
    const fixed = mirrored() ? mirror(wanted, ends()) : wanted;
    if (fixed.every(Number.isFinite) && fixed[0] < fixed[1]) choose(colorRangeOf("fixed", fixed));
    else [low.value, high.value] = ends().map(String);
  };
  // The page's own shortcuts must not see what is typed here.
  low.onkeydown = high.onkeydown = switcher.onkeydown = (event) => event.stopPropagation();
  return {
    /** `words` say what the numbers were taken from. */
    show(range, hidden, words, compared) {
      box.hidden = hidden;
      name(switcher, compared);
      switcher.value = range.kind;
      switcher.title = switcher.selectedOptions[0]?.title ?? "";
      if (note.textContent !== words) note.textContent = words;
      low.hidden = high.hidden = range.kind !== "fixed";
      if (range.kind === "fixed" && !hidden) [low.value, high.value] = ends().map(String);
    },
  };
}

/**
 * Offers the ranges there are for one response, or for one that is compared with another.
 * @param {HTMLSelectElement} switcher
 * @param {boolean} compared
 */
function name(switcher, compared) {
  for (const option of switcher.options) {
    const joint = compared && option.value === "q";
    const known = COLOR_RANGES.find(([kind]) => kind === option.value);
    option.hidden = option.disabled = compared && OF_ONE.includes(option.value);
    option.textContent = joint ? OF_BOTH.name : (known?.[1] ?? "");
    option.title = joint ? OF_BOTH.title : TITLES[option.value];
  }
}

/** @param {HTMLInputElement} input */
function numberIn(input) {
  return Number(input.value.trim().replaceAll("\u2212", "-") || NaN);
}
