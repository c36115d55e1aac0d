// Round numbers for the axes, and how they are written. Pure.

import { MINUS } from "./number_text.js";

const DIGITS = [1, 2, 5];

/**
 * Round numbers from `low` to `high`, evenly apart: as many as fit, at most `most`.
 * @param {number} low
 * @param {number} high
 * @param {number} most at least 2
 * @returns {number[]}
 */
export function evenTicks(low, high, most) {
  if (!(high > low)) return [low];
  const apart = roundStep((high - low) / most);
  const first = Math.ceil(low / apart - 1e-9);
  const last = Math.floor(high / apart + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => Number(((first + at) * apart).toPrecision(12)));
}

/**
 * Whole numbers from `low` to `high`, evenly apart.
 * @param {number} low
 * @param {number} high
 * @param {number} most at least 2
 * @returns {number[]}
 */
export function stepTicks(low, high, most) {
  const apart = Math.max(1, roundStep((high - low) / most));
  const first = Math.ceil(low / apart);
  const last = Math.floor(high / apart);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * apart);
}

/**
 * At most `most` round numbers from `low` to `high`, both above zero; one at least: 1, 2 and 5 of each decade, or fewer of them, or
 * powers of ten; within a decade that has too few of these even steps instead.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 * @returns {number[]}
 */
export function logTicks(low, high, most) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.floor(Math.log10(high))];
  const powers = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  /** @param {number[]} digits */
  const finer = (digits) => powers.flatMap((power) => digits.map((digit) => tenTo(power, digit)));
  /** @param {number} every */
  const coarser = (every) => powers.filter((power) => power % every === 0).map((power) => tenTo(power, 1));
  const candidates = [finer(DIGITS), finer([1, 5]), ...[1, 2, 3, 5, 10, 20, 50, 100, 200].map(coarser)];
  const fitting = candidates.map((ticks) => ticks.filter((tick) => low <= tick && tick <= high));
  const ticks = fitting.find((some) => some.length <= most) ?? [];
  if (ticks.length > 2 || high / 10 > low) return ticks.length ? ticks : [low];
  const even = high - low > 1e-3 * high ? evenTicks(low, high, most) : [];
  return even.length ? even : [Number(low.toPrecision(4))];
}

/**
 * Short: 160, 0.02, 2e−5.
 * @param {number} value
 * @returns {string}
 */
export function tickText(value) {
  const size = Math.abs(value);
  if (value === 0) return "0";
  const text =
    size >= 1e-3 && size < 1e5
      ? Number(value.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 8 })
      : shortPower(value.toExponential(3));
  return text.replaceAll("-", MINUS);
}

/** @param {string} text */
function shortPower(text) {
  const [digits, power] = text.split("e");
  return `${Number(digits)}e${Number(power)}`;
}

/** @param {number} least */
function roundStep(least) {
  const power = Math.floor(Math.log10(least));
  const digit = DIGITS.find((one) => tenTo(power, one) >= least * (1 - 1e-9));
  return digit === undefined ? tenTo(power + 1, 1) : tenTo(power, digit);
}

/**
 * As the nearest double to what one would write: 3e-5, not 0.000030000000000000004.
 * @param {number} power
 * @param {number} digit
 */
function tenTo(power, digit) {
  return Number(`${digit}e${power}`);
}
