// The pinned tokens side by side: a column for each, a row for each metric, and how far each is from the first. Text only.

import { element } from "./dom.js";
import { changeText, short, whole } from "./format.js";
import { literal } from "./marks.js";
import { localIndex } from "./model.js";
import { samePins } from "./pins.js";
import { barOf, placeOn, stepOf } from "./scale.js";
import { cut, readable } from "./tooltip.js";

/** @import { Metric, Model, ShownMetric } from "./model_types" */
/** @import { Compare, CompareEvents } from "./view_types" */

/** @typedef {{ model: Model; metric: ShownMetric | null; pins: number[] }} State */
/** @typedef {{ position: number; index: number | null }} PinnedToken */

/**
 * The comparison in `box`, there from two pins on. `on` holds what it tells: go(index), close(position), clear(), leave() when nothing is left to focus.
 * @param {HTMLElement} box
 * @param {CompareEvents} on
 * @returns {Compare}
 */
export function createCompare(box, on) {
  const state = /** @type {State} */ (/** @type {unknown} */ ({ model: null, metric: null, pins: [] }));
  const draw = () => {
    box.hidden = state.pins.length < 2 || state.model.metrics.length === 0;
    if (box.hidden) box.replaceChildren();
    else drawComparison(box, state, on);
  };
  box.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    on.clear();
    on.leave();
  };
  return {
    /** Tokens, pins or colours have changed; cheap when they have not. */
    show(model, pins, metric, changed = false) {
      if (!changed && state.model === model && samePins(state.pins, pins)) return;
      Object.assign(state, { model, pins, metric });
      draw();
    },
  };
}

/**
 * @param {HTMLElement} box
 * @param {State} state
 * @param {CompareEvents} on
 */
function drawComparison(box, { model, pins, metric }, on) {
  const tokens = pins.map((position) => ({ position, index: localIndex(model, position) }));
  /** @param {number} position */
  const close = (position) => {
    on.close(position);
    const next = /** @type {HTMLElement | null} */ (box.querySelector(".tv-close"));
    if (next) next.focus();
    else on.leave();
  };
  const head = tokens.map(({ position, index }) => columnHead(model, position, index, on.go, close));
  const rows = model.metrics.map((each) => comparisonRow(each, tokens, each === metric));
  const caption = element("caption", "tv-dim", {}, "pinned tokens; small numbers are differences from the first");
  const corner = element("th", "", { scope: "col" }, element("span", "tv-live", {}, "metric"));
  const columns = element("thead", "", {}, element("tr", "", {}, corner, ...head));
  box.replaceChildren(element("table", "tv-compare-table", {}, caption, columns, element("tbody", "", {}, ...rows)));
}

/**
 * @param {Model} model
 * @param {number} position
 * @param {number | null} index
 * @param {CompareEvents["go"]} go
 * @param {CompareEvents["close"]} close
 */
function columnHead(model, position, index, go, close) {
  const name = `token ${whole(position + 1)}`;
  const title = index === null ? `${name} is in another window` : `go to ${name}`;
  const to = element("button", "tv-go", { type: "button", title, "aria-label": title, disabled: index === null }, name);
  to.onclick = () => index !== null && go(index);
  const away = element("button", "tv-close", { type: "button", title: `unpin ${name}`, "aria-label": `unpin ${name}` }, "×");
  away.onclick = () => close(position);
  const text = index === null ? "in another window" : literal(cut(readable(model, index)));
  const masked = index !== null && model.counts[index] === 0 ? [element("div", "tv-dim", {}, "masked")] : [];
  const shown = element("bdi", "tv-compare-text", { title: text }, text);
  return element("th", "", { scope: "col" }, element("div", "tv-compare-name", {}, to, away), shown, ...masked);
}

/**
 * @param {Metric} metric
 * @param {PinnedToken[]} tokens
 * @param {boolean} chosen
 */
function comparisonRow(metric, tokens, chosen) {
  /** @param {Float32Array} numbers */
  const of = (numbers) => tokens.map(({ index }) => (index === null ? NaN : numbers[index]));
  const [values, toned] = [of(metric.values), of(metric.toned)];
  const name = element(
    "th",
    "",
    { scope: "row" },
    metric.name,
    element("span", "tv-dim", {}, metric.unit ? ` ${metric.unit}` : ""),
  );
  const cells = values.map((value, i) => {
    const small = element("span", "tv-difference", {}, i === 0 ? "" : changeText(value, values[0]));
    return element("td", "", {}, element("span", `tv-cell ${colourOf(metric, toned[i])}`, {}, short(value)), small);
  });
  return element("tr", chosen ? "tv-chosen" : "", { "data-metric": metric.name }, name, ...cells);
}

/**
 * The class names of the value's colour and underline, as a token of it has them in the text.
 * @param {Metric} metric
 * @param {number} value
 */
function colourOf(metric, value) {
  const at = placeOn(metric.ends, value);
  const step = stepOf(at);
  if (step === null) return "";
  const side = metric.scale !== "diverging" ? "s" : step < 0 ? "n" : "p";
  const bar = barOf(at);
  return `tv-${side}${Math.abs(step)}${bar === 0 ? "" : ` tv-u${bar}`}${at < 0 ? " tv-below" : ""}`;
}
