// Where things lie: between places (0 to 1) and pixels, and the numbers that stand at the axes. Pure.

import { evenTicks, logTicks, tickText } from "../curves/ticks.js";

/** @import { AxisMeta, Place, Plane } from "./types" */

const LETTER = 6.5; // pixels of one, about
const TOP = 24;
const BOTTOM = 40;
const RIGHT = 14;

/**
 * @param {number} width
 * @param {number} height
 * @param {string[]} labels at the y axis
 * @returns {Plane}
 */
export function planeOf(width, height, labels) {
  const left = 14 + LETTER * Math.max(2, ...labels.map((label) => label.length));
  return { left, top: TOP, width: Math.max(20, width - left - RIGHT), height: Math.max(20, height - TOP - BOTTOM) };
}

/**
 * @param {Plane} plane
 * @param {Place} place
 * @returns {Place} pixels
 */
export function pixelsOf(plane, [x, y]) {
  return [plane.left + x * plane.width, plane.top + (1 - y) * plane.height];
}

/**
 * @param {Plane} plane
 * @param {number} x pixels
 * @param {number} y
 * @returns {Place} kept within the plane
 */
export function placeAt(plane, x, y) {
  const within = (/** @type {number} */ value) => Math.min(1, Math.max(0, value));
  return [within((x - plane.left) / plane.width), within(1 - (y - plane.top) / plane.height)];
}

/**
 * Round numbers on an axis and their places.
 * @param {AxisMeta} axis
 * @param {number} most
 * @returns {{ at: number; text: string }[]}
 */
export function ticksOf({ low, high, log }, most) {
  const values = log ? logTicks(10 ** low, 10 ** high, Math.max(2, most)) : evenTicks(low, high, Math.max(2, most));
  const place = (/** @type {number} */ value) => ((log ? Math.log10(value) : value) / 2 - low / 2) / (high / 2 - low / 2);
  return values.map((value) => ({ at: place(value), text: tickText(value) })).filter(({ at }) => at >= 0 && at <= 1);
}

/**
 * The number at a place, without what its way here as a small float put behind it.
 * @param {AxisMeta} axis
 * @param {number} place
 */
export function numberAt({ low, high, log }, place) {
  const at = low * (1 - place) + high * place;
  if (log) return Number((10 ** at).toPrecision(5));
  const grain = (high - low) * 1e-6;
  return Number.isFinite(grain) && grain > 0 ? Number((Math.round(at / grain) * grain).toPrecision(6)) : at;
}
