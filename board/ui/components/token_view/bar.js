// The line above the text: which metric colours it, the numbers of its scale, and how much of the response is in view.

import { element } from "./dom.js";
import { extent, rangeText, short, whole } from "./format.js";
import { traits } from "./model.js";
import { barOf, STEPS, valueAt } from "./scale.js";

/** @import { Metric, Model, ShownMetric } from "./model_types" */
/** @import { Estimator } from "./payload_types" */

/** Letters of a number beside which its neighbours still stand. */
const LONGEST_TICK = 6;

const NO_METRIC = "This row has no token metric, so its tokens have no colour.";

/**
 * Draws the metric buttons, each with what it is on hover; `choose(name)` is called with the one clicked, `estimate(name)` with the KL estimator
 * asked for. With no metric, says so.
 * @param {HTMLElement} box
 * @param {Model} model
 * @param {(name: string) => void} choose
 * @param {(name: string) => void} estimate
 */
export function drawChooser(box, model, choose, estimate) {
  if (model.metrics.length === 0) {
    box.replaceChildren(element("span", "tv-note", {}, NO_METRIC));
    return;
  }
  const buttons = model.metrics.map((metric) => {
    const button = element("button", "tv-metric", { type: "button", role: "radio", "data-metric": metric.name }, metric.name);
    button.onclick = () => choose(metric.name);
    const more = metric.name === "kl" ? estimatorLines(model.estimators ?? [], estimate) : [];
    return withCard(button, metric, more);
  });
  box.replaceChildren(...buttons);
}

/**
 * The button with a card that is there while the pointer or the keyboard is on either; it stays inside the view.
 * @param {HTMLElement} button
 * @param {Metric} metric
 * @param {HTMLElement[]} more
 */
function withCard(button, { name, meaning, unit, poles }, more) {
  const lines = [
    [name, meaning].filter(Boolean).join(": "),
    [unit, `from ${poles[0]} to ${poles[1]}`].filter(Boolean).join(" · "),
  ];
  const card = element(
    "div",
    "tv-metric-card",
    { role: "group", "aria-label": `about ${name}` },
    ...lines.map((line) => element("div", "", {}, line)),
    ...more,
  );
  const box = element("span", "tv-metric-box", {}, button, card);
  const keepInside = () => {
    const over =
      box.getBoundingClientRect().left + card.offsetWidth - (box.closest(".tv") ?? document.body).getBoundingClientRect().right;
    card.style.left = `${Math.min(0, -over)}px`;
  };
  box.onpointerenter = keepInside;
  box.addEventListener("focusin", keepInside);
  return box;
}

/**
 * The formula in use, and the other estimators to choose from.
 * @param {Estimator[]} estimators
 * @param {(name: string) => void} estimate
 * @returns {HTMLElement[]}
 */
function estimatorLines(estimators, estimate) {
  const used = estimators.find(({ chosen }) => chosen);
  if (used === undefined) return [];
  const buttons = estimators.map(({ name, formula, reading, chosen }) => {
    const button = element(
      "button",
      "tv-zoom tv-estimator",
      { type: "button", "aria-pressed": String(chosen), title: `${formula}: ${reading}` },
      name,
    );
    button.onclick = () => estimate(name);
    return button;
  });
  const formula = element("div", "tv-formula", {}, `${used.name} = ${used.formula}, d = logprob − ref_logprob: ${used.reading}`);
  return [formula, element("div", "tv-estimators", {}, "estimator", ...buttons)];
}

/**
 * Shows which metric is chosen; `focus` moves the keyboard there too.
 * @param {HTMLElement} box
 * @param {string | undefined} chosen
 * @param {boolean} focus
 */
export function markChosen(box, chosen, focus) {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(".tv-metric"))) {
    const on = button.dataset.metric === chosen;
    button.setAttribute("aria-checked", String(on));
    button.tabIndex = on ? 0 : -1;
    if (on && focus) button.focus();
  }
}

/**
 * Left and right arrows walk the metric buttons, as in any group of radio buttons. Returns the metric to choose, or null.
 * @param {Model} model
 * @param {string | undefined} chosen
 * @param {string} key
 * @returns {string | null}
 */
export function neighbourMetric(model, chosen, key) {
  const direction = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (direction === undefined || model.metrics.length === 0) return null;
  const at = model.metrics.findIndex((metric) => metric.name === chosen);
  return model.metrics[(at + direction + model.metrics.length) % model.metrics.length].name;
}

/**
 * Draws the colour scale with its numbers, and a word on whatever else is to be seen in the text.
 * @param {HTMLElement} box
 * @param {Model} model
 * @param {ShownMetric | null} metric
 * @param {string} [granularity]
 */
export function drawLegend(box, model, metric, granularity = "token") {
  if (metric === null) {
    box.replaceChildren();
    return;
  }
  const none = element("span", "tv-note", {}, `${metric.name}: no number among these tokens`);
  box.replaceChildren(
    ...(metric.finite === 0 ? [none] : [scaleBar(metric), unitText(metric, granularity)]),
    ...legendNotes(model, metric),
  );
}

/**
 * "tokens 2,001–4,000 of 33,000", and how many are masked.
 * @param {HTMLElement} box
 * @param {Model} model
 */
export function drawExtent(box, model) {
  const { masked } = traits(model, null);
  box.textContent = extent(model.start, model.n, model.total) + (masked ? ` · ${whole(masked)} masked` : "");
}

/** @param {ShownMetric} metric */
function scaleBar(metric) {
  const diverging = metric.scale === "diverging";
  const steps = diverging ? integers(1 - STEPS, STEPS - 1) : integers(0, STEPS - 1);
  // Low numbers stand left, as on any axis, whichever end is loud.
  if (!diverging && metric.loud === "low") steps.reverse();
  const swatches = steps.map((step) => element("i", swatchClass(step, diverging)));
  const ends = [metric.lo, metric.hi];
  const constant = ends[0] === ends[1];
  const places = diverging ? [-1, -0.5, 0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  if (!diverging && metric.loud === "low") places.reverse();
  const texts = places.map((at, i) => tick(metric, at, i, places.length - 1, constant));
  // Five long numbers would run into each other.
  const crowded = texts.some((text) => text.length > LONGEST_TICK);
  const numbers = texts.map((text, i) => element("span", "", {}, crowded && i % 2 ? "" : text));
  const [low, high] = metric.poles;
  const label = `colour scale of ${metric.name}, from ${low} to ${high}: ${rangeText(metric, metric.side !== null)} ${metric.unit}`;
  const rows = [element("div", "tv-swatches", {}, ...swatches), element("div", "tv-ticks", {}, ...numbers)];
  /** @param {string} words */
  const pole = (words) => element("span", "tv-pole", {}, words);
  return element(
    "div",
    "tv-ramp",
    { role: "img", "aria-label": label },
    pole(low),
    element("div", "tv-scale", {}, ...rows),
    pole(high),
  );
}

/**
 * @param {ShownMetric} metric
 * @param {number} at
 * @param {number} i
 * @param {number} last
 * @param {boolean} constant
 */
function tick(metric, at, i, last, constant) {
  if (constant) return i === 0 ? short(metric.lo) : "";
  const value = Math.fround(valueAt(metric, at));
  // Sizes with sides grow either way from zero.
  const sizes = metric.side !== null;
  const [below, above] = [i === 0 && metric.min < metric.lo, i === last && metric.max > metric.hi];
  const sign = below && !sizes ? "≤" : below || above ? "≥" : "";
  return sign + short(sizes ? Math.abs(value) : value);
}

/**
 * @param {number} step
 * @param {boolean} diverging
 */
function swatchClass(step, diverging) {
  const at = step / (STEPS - 1);
  const bar = barOf(at);
  const side = !diverging ? "s" : step < 0 ? "n" : "p";
  return `tv-${side}${Math.abs(step)}${bar ? ` tv-u${bar}` : ""}${at < 0 ? " tv-below" : ""}`;
}

/**
 * @param {ShownMetric} metric
 * @param {string} granularity
 */
function unitText(metric, granularity) {
  const words = [metric.unit, granularity === "token" ? "" : `mean of each ${granularity}`];
  const [least, most] = metric.side === null ? [metric.min, metric.max] : [metric.lo, Math.max(-metric.min, metric.max)];
  if (least < metric.lo) words.push(`least ${short(least)}`);
  if (most > metric.hi) words.push(`most ${short(most)}`);
  return element("span", "tv-unit", {}, words.filter(Boolean).join(" · "));
}

/**
 * @param {Model} model
 * @param {ShownMetric} metric
 */
function legendNotes(model, metric) {
  const seen = traits(model, metric);
  /** @param {string} kind */
  const top = (kind) => [...model.tops.values()].filter((what) => what === kind).length;
  /**
   * @param {string} kind
   * @param {string} words
   */
  const mark = (kind, words) => (top(kind) ? [element("span", "tv-key", {}, element("b", "", { "data-top": kind }), words)] : []);
  /**
   * @param {string} name
   * @param {string} sample
   * @param {number} count
   */
  const key = (name, sample, count) => element("span", "tv-key", {}, element("i", sample), `${name} ${whole(count)}`);
  return [
    ...(seen.missing ? [key("missing", "tv-missing", seen.missing)] : []),
    ...(seen.infinite ? [key("infinite", "tv-infinite tv-sample", seen.infinite)] : []),
    ...mark("five", `${top("five")} largest of the KL`),
    ...mark("percent", "top 1 %"),
  ];
}

/**
 * @param {number} first
 * @param {number} last
 */
function integers(first, last) {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
