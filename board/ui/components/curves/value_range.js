// Which steps and values a panel's axes reach over. Pure.

/** @import { Card, Curve, Range } from "./types" */

const ROOM = 0.06; // of the values' span, above and below them
const ALIKE = 1e-9; // numbers nearer to each other, as shares of them, differ by rounding alone
const STEP_ROOM = 0.02;
const BIGGEST = 1e250; // beyond it, and on a logarithmic axis as far below 1, an axis could not be reckoned with doubles

/**
 * The axis of steps over the steps from the first to the last.
 * @param {Range} span
 * @returns {Range}
 */
export function stepAxis([first, last]) {
  const room = (last - first) * STEP_ROOM || 0.5;
  return [first - room, last + room];
}

/**
 * The place of the first of rising `steps` that is not below `step`; their number where there is none.
 * @param {ArrayLike<number>} steps
 * @param {number} step
 */
export function firstFrom(steps, step) {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle] < step) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The axis of values for all that is drawn of the panel between two steps.
 * @param {Card} card
 * @param {Range} range
 * @returns {Range}
 */
export function valueAxis(card, [from, to]) {
  let [low, high] = card.fromZero && !card.log ? [0, 0] : [Infinity, -Infinity];
  for (const curve of card.curves) {
    const [first, end] = [firstFrom(curve.steps, from), firstFrom(curve.steps, to + 1e-9)];
    for (const array of drawnArrays(curve)) {
      for (let at = first; at < end; at += 1) {
        const value = array[at];
        if (!(Math.abs(value) <= BIGGEST) || (card.log && value < 1 / BIGGEST)) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
  }
  if (low > high) return card.log ? [0.1, 10] : [0, 1];
  return card.log ? logRoom(low, high) : room(low, high);
}

/**
 * @param {Curve} curve
 * @returns {Float64Array[]}
 */
function drawnArrays({ values, raw, low, high }) {
  return [values, raw, low, high].filter((array) => array !== undefined);
}

/**
 * @param {number} low
 * @param {number} high
 * @returns {Range}
 */
function room(low, high) {
  const span = high - low > ALIKE * Math.max(Math.abs(low), Math.abs(high)) ? high - low : 0;
  const more = span * ROOM || Math.abs(high) * ROOM;
  return more ? [low - more, high + more] : [-ROOM, 1]; // what is 0 throughout lies on the floor
}

/**
 * @param {number} low
 * @param {number} high
 * @returns {Range}
 */
function logRoom(low, high) {
  const more = 10 ** ((Math.log10(high) - Math.log10(low)) * ROOM);
  return more > 1.0001 ? [low / more, high * more] : [low / 1.2, high * 1.2];
}
