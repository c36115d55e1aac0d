// Panels → what the plot library draws: one axis of steps for all lines, and the lines over it. Pure.

/** @import { Card, Curve, Stroke } from "./types" */

const PALE = "66"; // alpha of a line before smoothing, in hexadecimal digits
const OWN = 2;

/**
 * The steps of all points that are drawn, and the lines over them: those before smoothing first. `kept` are the places of each curve's points.
 * A point that is missing is null, a step that is none of a curve's is undefined.
 * @param {Card} card
 * @param {ArrayLike<number>[]} kept
 * @returns {{ steps: Float64Array; strokes: Stroke[] }}
 */
export function plotData(card, kept) {
  const steps = allSteps(card.curves, kept);
  const raw = card.curves.flatMap((curve, at) =>
    curve.raw ? [stroke({ ...curve, color: curve.color + PALE, width: 1, dash: [] }, curve.raw, kept[at], steps)] : [],
  );
  return { steps, strokes: [...raw, ...card.curves.map((curve, at) => stroke(curve, curve.values, kept[at], steps))] };
}

/**
 * All places of a curve.
 * @param {Curve} curve
 */
export function allPlaces(curve) {
  return Array.from({ length: curve.steps.length }, (_, at) => at);
}

/**
 * @param {Curve[]} curves
 * @param {ArrayLike<number>[]} kept
 */
function allSteps(curves, kept) {
  const found = new Set();
  for (let at = 0; at < curves.length; at += 1)
    for (let i = 0; i < kept[at].length; i += 1) found.add(curves[at].steps[kept[at][i]]);
  return Float64Array.from(/** @type {Set<number>} */ (found)).sort();
}

/**
 * @param {Pick<Curve, "color" | "width" | "dash" | "steps">} curve
 * @param {Float64Array} values
 * @param {ArrayLike<number>} kept
 * @param {Float64Array} steps
 * @returns {Stroke}
 */
function stroke({ color, width, dash, steps: own }, values, kept, steps) {
  /** @type {(number | null | undefined)[]} */
  const column = new Array(steps.length).fill(undefined);
  for (let i = 0, place = 0; i < kept.length; i += 1) {
    while (steps[place] < own[kept[i]]) place += 1;
    const value = values[kept[i]];
    column[place] = Number.isFinite(value) ? value : null;
  }
  return { color, width: width || OWN, dash, column, lone: lonePlaces(column) };
}

/**
 * Which points have a missing one, or none, on both sides: a line does not show them.
 * @param {(number | null | undefined)[]} column
 */
export function lonePlaces(column) {
  const own = column.map((_, at) => at).filter((at) => column[at] !== undefined);
  return own.filter((at, i) => column[at] !== null && missing(column, own[i - 1]) && missing(column, own[i + 1]));
}

/**
 * @param {(number | null | undefined)[]} column
 * @param {number | undefined} at
 */
function missing(column, at) {
  return at === undefined || column[at] === null;
}

/**
 * Stretches of a band without a gap, as places of the curve.
 * @param {Curve} curve
 * @param {ArrayLike<number>} kept
 * @returns {number[][]}
 */
export function stretches({ low, high }, kept) {
  if (!low || !high) return [];
  /** @type {number[][]} */
  const found = [[]];
  for (let i = 0; i < kept.length; i += 1) {
    const at = kept[i];
    if (Number.isFinite(low[at]) && Number.isFinite(high[at])) found[found.length - 1].push(at);
    else if (found[found.length - 1].length) found.push([]);
  }
  return found.filter((stretch) => stretch.length);
}
