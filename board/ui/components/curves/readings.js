// What the curves of a panel say at a step. Pure.

import { placeText } from "./axis_text.js";
import { numberText } from "./number_text.js";
import { firstFrom } from "./value_range.js";

/** @import { Card, Choice, Curve, CurveMark, Frame } from "./types" */

const BESIDE = 5; // pixels

/**
 * A curve's point at a step, or the one before it where it has none there; null where there is neither.
 * @param {Curve} curve
 * @param {number} step
 * @returns {{ step: number; value: number } | null}
 */
export function latestPoint({ steps, values }, step) {
  for (let at = firstFrom(steps, step + 1e-9) - 1; at >= 0; at -= 1)
    if (Number.isFinite(values[at])) return { step: steps[at], value: values[at] };
  return null;
}

/**
 * The step of a panel that is nearest to a place on the axis; null in an empty panel.
 * @param {Card} card
 * @param {number} place
 * @returns {number | null}
 */
export function nearestStep({ curves }, place) {
  /** @type {number | null} */
  let best = null;
  for (const { steps } of curves) {
    const at = firstFrom(steps, place);
    for (const step of [steps[at - 1], steps[at]])
      if (step !== undefined && (best === null || Math.abs(step - place) < Math.abs(best - place))) best = step;
  }
  return best;
}

/**
 * The step after that one, or before it (`by` −1), in any curve of the panel; null where there is none.
 * @param {Card} card
 * @param {number} step
 * @param {1 | -1} by
 * @returns {number | null}
 */
export function neighbourStep({ curves }, step, by) {
  const found = curves
    .map(({ steps }) => (by > 0 ? steps[firstFrom(steps, step + 1e-9)] : steps[firstFrom(steps, step) - 1]))
    .filter((other) => other !== undefined);
  if (!found.length) return null;
  return by > 0 ? Math.min(...found) : Math.max(...found);
}

/**
 * What a value is told as, with a short unit behind it.
 * @param {number} value
 * @param {string} unit
 */
export function valueText(value, unit) {
  return numberText(value) + (unit.startsWith("%") && Number.isFinite(value) ? " %" : "");
}

/**
 * What each curve says at a step: its name, its value, and more on it: the band, the value before smoothing, the count.
 * @param {Card} card
 * @param {number} step
 * @returns {{ name: string; color: string; value: string; more: string }[]}
 */
export function readings({ curves, unit }, step) {
  return [...curves].reverse().map((curve) => {
    const at = firstFrom(curve.steps, step);
    const known = curve.steps[at] === step;
    const value = known ? valueText(curve.values[at], unit) : numberText(Number.NaN);
    return { name: curve.name, color: curve.color, value, more: known ? more(curve, at) : "" };
  });
}

/**
 * What each run says at a place, in the order of the runs: where it has no point there its last one before, and where that is. What is beyond
 * a run's end, or before its begin, it does not say.
 * @param {Card} card
 * @param {number} place
 * @returns {{ value: string; more: string }[]}
 */
export function runReadings(card, place) {
  return [...card.curves].reverse().map((curve) => {
    const point = latestPoint(curve, place);
    const last = curve.steps[curve.steps.length - 1];
    if (!point) return { value: numberText(Number.NaN), more: `from ${placeText(card, curve.steps[0])}` };
    if (place > last) return { value: numberText(Number.NaN), more: `to ${placeText(card, last)}` };
    const said = more(curve, firstFrom(curve.steps, point.step));
    const where = point.step === place ? "" : `at ${placeText(card, point.step)}`;
    return { value: valueText(point.value, card.unit), more: [said, where].filter(Boolean).join(", ") };
  });
}

/**
 * @param {Curve} curve
 * @param {number} at
 */
function more({ raw, low, high, count }, at) {
  const parts = [
    raw && Number.isFinite(raw[at]) ? `not smoothed ${numberText(raw[at])}` : "",
    low && high && Number.isFinite(low[at]) ? `${numberText(low[at])} to ${numberText(high[at])}` : "",
    count && count[at] >= 0 ? `n ${numberText(count[at])}` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/**
 * What panels say at a step, to be read out.
 * @param {Card[]} cards
 * @param {number} step
 */
export function spoken(cards, step) {
  const told = cards.map(
    (card) =>
      `${card.title}: ${(card.runs ? namedReadings(card, step) : readings(card, step))
        .map(({ name, value }) => `${name} ${value}`)
        .join(", ")}`,
  );
  const place = cards.length ? placeText(cards[0], step) : "";
  return `${place.charAt(0).toUpperCase()}${place.slice(1)}. ${told.join(". ")}`;
}

/**
 * @param {Card} card
 * @param {number} place
 */
function namedReadings(card, place) {
  const names = [...card.curves].reverse().map(({ name }) => name);
  return runReadings(card, place).map(({ value }, at) => ({ name: names[at], value }));
}

/**
 * What was found in the curves of a panel.
 * @param {Card} card
 * @param {Choice | null} choice
 * @returns {CurveMark[]}
 */
export function marksOf({ shows, runs }, choice) {
  return (choice?.marks ?? []).filter(({ names }) => (names.length ? names.some((name) => shows.includes(name)) : !runs));
}

/**
 * Those of them that the crosshair stands at, or nearly.
 * @param {CurveMark[]} marks
 * @param {number | null} at
 * @param {Frame} frame
 */
export function marksBeside(marks, at, { across }) {
  return at === null ? [] : marks.filter(({ step }) => Math.abs(across(step) - across(at)) <= BESIDE);
}

/**
 * What a panel shows, in a sentence for those who do not see it.
 * @param {Card} card
 * @param {number | null} step
 * @param {CurveMark[]} marks
 */
export function described(card, step, marks) {
  const lines = card.curves.map((curve) => {
    const point = step === null ? null : latestPoint(curve, step);
    return point ? `${curve.name} ${valueText(point.value, card.unit)}` : curve.name;
  });
  const when = step === null ? "" : ` At ${placeText(card, step)}:`;
  const found = marks.map(({ text }) => ` ${text}.`).join("");
  return `Curves over steps: ${[card.title, card.unit, card.drawn].filter(Boolean).join(", ")}.${when} ${lines.reverse().join(", ")}.${found}`;
}
