// From a metric's numbers to the points, ends and axis numbers of its line chart. Pure arithmetic; knows nothing of colours or the page.

import { CELL } from "./heat_layout.js";
import { fromZero, logBent } from "./scale.js";

/** @import { Match } from "./model_types" */
/** @import { Ends } from "./plain_types" */

/** @typedef {{ lo: number; hi: number; at: (value: number) => number }} Axis */

/**
 * Least and greatest number in each of `width` pixel columns, the first being `offset` pixels into the response, at `scale` pixels per
 * token; NaN where a column has none. Only counted, finite numbers enter, and no number is left out, so one spike in 128,000 is drawn.
 * @param {ArrayLike<number>} values
 * @param {ArrayLike<number>} cells
 * @param {number} offset
 * @param {number} scale
 * @param {number} width
 */
export function envelopeOf(values, cells, offset, scale, width) {
  const low = new Float32Array(width).fill(NaN);
  const high = new Float32Array(width).fill(NaN);
  for (let x = 0; x < width; x += 1) {
    const first = Math.max(0, Math.floor((offset + x) / scale));
    const stop = Math.min(values.length, Math.max(first + 1, Math.floor((offset + x + 1) / scale)));
    for (let i = first; i < stop; i += 1) {
      if (cells[i] !== CELL.number) continue;
      // Written so that the first number replaces NaN.
      if (!(low[x] <= values[i])) low[x] = values[i];
      if (!(high[x] >= values[i])) high[x] = values[i];
    }
  }
  return { low, high };
}

/**
 * Least and greatest of the counted, finite numbers from token `first` to `last`; null when there is none.
 * @param {ArrayLike<number>} values
 * @param {ArrayLike<number>} cells
 * @param {number} first
 * @param {number} last
 * @returns {Ends | null}
 */
export function extentOf(values, cells, first, last) {
  let [low, high] = [Infinity, -Infinity];
  for (let i = first; i <= last; i += 1) {
    if (cells[i] !== CELL.number) continue;
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return low > high ? null : [low, high];
}

/**
 * Runs of neighbouring tokens that have a number, as [first, last]: the line is broken where a number is missing, infinite or masked.
 * @param {ArrayLike<number>} cells
 * @param {number} first
 * @param {number} last
 * @returns {Match[]}
 */
export function runsOf(cells, first, last) {
  /** @type {Match[]} */
  const runs = [];
  for (let i = first; i <= last; i += 1) {
    if (cells[i] !== CELL.number) continue;
    if (runs.length > 0 && runs[runs.length - 1][1] === i - 1) runs[runs.length - 1][1] = i;
    else runs.push([i, i]);
  }
  return runs;
}

/**
 * The vertical axis over the numbers [low, high]: {lo, hi, at(value)} with 0 at the bottom and 1 at the top. It starts at zero where zero
 * is near or the metric diverges from it; `log` grows evenly with every factor, as the colours then do.
 * @param {Ends} ends
 * @param {{ diverging: boolean; log: boolean }} given
 * @returns {Axis}
 */
export function axisOf([low, high], { diverging, log }) {
  const [lo, hi] = diverging ? [Math.min(0, low), Math.max(0, high)] : fromZero(low, high);
  const most = Math.max(Math.abs(lo), Math.abs(hi)) || 1;
  /** @param {number} value */
  const bend = (value) => (log ? logBent(value / most) : value / most);
  const [bottom, top] = [bend(lo), bend(hi)];
  return { lo, hi, at: (value) => (top === bottom ? 0.5 : (bend(value) - bottom) / (top - bottom)) };
}

/**
 * Numbers beside the axis as {value, at}: its ends, and zero where it lies between them with `room` (a share of the height) to each.
 * @param {Axis} axis
 * @param {number} room
 * @returns {{ value: number; at: number }[]}
 */
export function axisNumbers({ lo, hi, at }, room) {
  if (lo === hi) return [{ value: lo, at: 0.5 }];
  const ends = [
    { value: hi, at: 1 },
    { value: lo, at: 0 },
  ];
  const zero = at(0);
  return lo < 0 && hi > 0 && zero >= room && zero <= 1 - room ? [ends[0], { value: 0, at: zero }, ends[1]] : ends;
}
