// The choices of a colour range and their short form: "q", "step", "run", "full", "log", "fixed:-1:1", "hold:0:2.5". Pure.

import { whole } from "./format.js";

/** @import { ColorRange } from "./model_types" */
/** @import { ScaleKind, SharedEnds } from "./payload_types" */
/** @import { Ends } from "./plain_types" */
/** @import { Ranged } from "./view_types" */

/** Kinds in the order of the switch, and what the switch calls them. */
export const COLOR_RANGES = [
  ["q", "quantile range"],
  ["step", "range of the step"],
  ["run", "range of the run"],
  ["full", "full range"],
  ["log", "log range"],
  ["fixed", "fixed range"],
  ["hold", "held range"],
];

/**
 * A choice: its kind and, where the kind has them, its two ends; anything that is none becomes the quantile range.
 * @param {string} kind
 * @param {Ends | null} [ends]
 * @returns {ColorRange}
 */
export function colorRangeOf(kind, ends = null) {
  if (!COLOR_RANGES.some(([known]) => known === kind)) return { kind: "q", ends: null };
  if (kind !== "fixed" && kind !== "hold") return { kind, ends: null };
  return usable(ends) ? { kind, ends: [rounded(ends[0]), rounded(ends[1])] } : { kind: "q", ends: null };
}

/**
 * Both ends of a scale that is symmetric around 0, after one of them was changed from what it was `before`.
 * @param {Ends} ends
 * @param {Ends} before
 * @returns {Ends}
 */
export function mirror([low, high], before) {
  const size = Math.abs(low === before[0] ? high : low);
  return [-size, size];
}

/**
 * The choice of a short form.
 * @param {string | null} text
 */
export function readColorRange(text) {
  const [kind, low, high] = String(text).split(":");
  return colorRangeOf(kind, low === undefined || high === undefined ? null : [Number(low), Number(high)]);
}

/**
 * The short form of a choice.
 * @param {ColorRange} colorRange
 */
export function colorRangeName({ kind, ends }) {
  return ends === null ? kind : `${kind}:${ends[0]}:${ends[1]}`;
}

/**
 * What a choice means for one metric: {kind, ends}. `own` are the ends the reader gave or holds for it; `sharedEnds` is what the server says of the
 * step or the run, {scope, ends: {name: [low, high]}}, or null before it does. Without ends the metric keeps its own quantiles.
 * @param {ColorRange} colorRange
 * @param {string} name
 * @param {Ends | null | undefined} own
 * @param {SharedEnds | null} sharedEnds
 * @returns {ColorRange}
 */
export function colorRangeFor({ kind, ends }, name, own, sharedEnds) {
  const shared = kind === "step" || kind === "run";
  if (!shared && ends === null) return { kind, ends };
  const known = shared ? sharedEnds?.scope === kind && sharedEnds.ends[name] : own;
  return known ? { kind, ends: known } : { kind: "q", ends: null };
}

/**
 * What a metric's ends were taken from: "2,000 of 40,000 rollouts, drawn at random"; and that a diverging metric's are symmetric.
 * @param {ColorRange} colorRange
 * @param {{ name: string; scale: ScaleKind }} given
 * @param {SharedEnds | null} sharedEnds
 */
export function sourceOf({ kind }, { name, scale }, sharedEnds) {
  const source = kind === "step" || kind === "run" ? sharedSource(kind, name, sharedEnds) : "";
  return [source, scale === "diverging" ? "symmetric around 0" : ""].filter(Boolean).join(" · ");
}

/**
 * Gives every metric of `model` the range in force; `held` (by metric, filled here) keeps over rollouts the ends that `ends()` says are shown.
 * @param {Ranged} ranged
 * @param {() => Ends} ends
 */
export function rescale({ model, metric: chosen, colorRange, held, sharedEnds }, ends) {
  for (const metric of model.metrics) {
    // What is held is taken from the first rollout that shows it; a row that is not looked at keeps its own range.
    if (colorRange.kind === "hold" && metric === chosen && metric.finite > 0)
      held[metric.name] ??= colorRangeOf("hold", ends()).ends;
    metric.rescale(colorRangeFor(colorRange, metric.name, held[metric.name], sharedEnds));
  }
}

/**
 * The range of the metric that is shown, in its short form.
 * @param {Pick<Ranged, "colorRange" | "held" | "metric">} given
 */
export function shownColorRange({ colorRange, held, metric }) {
  if (colorRange.ends === null) return colorRangeName(colorRange);
  const ends = metric === null ? null : held[metric.name];
  return ends ? colorRangeName({ kind: colorRange.kind, ends }) : "q";
}

/**
 * @param {string} kind
 * @param {string} name
 * @param {SharedEnds | null} sharedEnds
 */
function sharedSource(kind, name, sharedEnds) {
  if (sharedEnds?.scope !== kind) return "being worked out";
  if (!sharedEnds.ends[name]) return `the ${kind} has no number of it`;
  const all = `${whole(sharedEnds.total)} rollout${sharedEnds.total === 1 ? "" : "s"}`;
  return sharedEnds.rollouts < sharedEnds.total
    ? `${sharedEnds.where}: ${whole(sharedEnds.rollouts)} of ${all}, drawn at random`
    : `${sharedEnds.where}: ${all}`;
}

/** @param {number} end */
function rounded(end) {
  return Number(end.toPrecision(6));
}

/**
 * @param {Ends | null} ends
 * @returns {ends is Ends}
 */
function usable(ends) {
  return ends?.every(Number.isFinite) === true && ends[0] <= ends[1];
}
