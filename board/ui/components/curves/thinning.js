// Which points of a long curve are drawn, so that no extreme and no gap is lost. Pure; knows steps and pixels, and no screen.

import { firstFrom } from "./value_range.js";

/** @import { Curve } from "./types" */

/**
 * Places of a curve's points to draw between two steps, rising: of each column of pixels the first and the last point, the lowest and the
 * highest of the line, of the line before smoothing and of its band, and the first that is missing in any of them; and the point before and
 * after, to which lines lead out of the picture. At most twelve in a column, and all where each has a column of its own.
 * @param {Curve} curve
 * @param {[number, number]} range the first and the last step in the picture
 * @param {number} pixels its width
 * @param {boolean} [log] whether what is not above zero has no place, and is missing
 * @returns {number[]}
 */
export function keptPlaces(curve, [from, to], pixels, log = false) {
  const { steps, values, raw, low, high } = curve;
  const begin = Math.max(0, firstFrom(steps, from) - 1);
  const end = Math.min(steps.length, firstFrom(steps, to + 1e-9) + 1);
  const pixelOf = to > from ? pixels / (to - from) : 0;
  const least = log ? Number.MIN_VALUE : -Number.MAX_VALUE;
  /** @type {Search[]} */
  const searches = [{ array: values, lowest: true, highest: true }];
  if (raw) searches.push({ array: raw, lowest: true, highest: true });
  if (low) searches.push({ array: low, lowest: true, highest: false });
  if (high) searches.push({ array: high, lowest: false, highest: true });
  /** @type {number[]} */
  const kept = [];
  for (let first = begin; first < end; ) {
    const column = Math.floor((steps[first] - from) * pixelOf);
    let next = first + 1;
    while (next < end && Math.floor((steps[next] - from) * pixelOf) === column) next += 1;
    keepOf(searches, first, next, least, kept);
    first = next;
  }
  return kept;
}

/** @typedef {{ array: Float64Array; lowest: boolean; highest: boolean }} Search */

/**
 * Adds to `kept` what is drawn of the points from `first` to before `end`, which share a column.
 * @param {Search[]} searches
 * @param {number} first
 * @param {number} end
 * @param {number} least what is below it is missing
 * @param {number[]} kept
 */
function keepOf(searches, first, end, least, kept) {
  if (end - first <= 2) {
    for (let at = first; at < end; at += 1) kept.push(at);
    return;
  }
  const found = [first, end - 1];
  for (const { array, lowest, highest } of searches) {
    const { low, high, missing } = extremes(array, first, end, least);
    if (lowest && low >= 0) found.push(low);
    if (highest && high >= 0) found.push(high);
    if (missing >= 0) found.push(missing);
  }
  found.sort((one, other) => one - other);
  for (let at = 0; at < found.length; at += 1) if (at === 0 || found[at] !== found[at - 1]) kept.push(found[at]);
}

/**
 * Places of the lowest, the highest and the first missing number; -1 for what there is none of.
 * @param {Float64Array} array
 * @param {number} first
 * @param {number} end
 * @param {number} least
 */
function extremes(array, first, end, least) {
  let [low, high, missing] = [-1, -1, -1];
  for (let at = first; at < end; at += 1) {
    const value = array[at];
    if (value >= least && value <= Number.MAX_VALUE) {
      if (low < 0 || value < array[low]) low = at;
      if (high < 0 || value > array[high]) high = at;
    } else if (missing < 0) missing = at;
  }
  return { low, high, missing };
}
