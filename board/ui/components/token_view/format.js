// Numbers and positions as the screen writes them. Pure; knows nothing of metrics or the page.

/** @import { ShownMetric } from "./model_types" */

const MINUS = "\u2212";

/**
 * A float32 with as few digits as tell it from its neighbours: 0.1, not 0.10000000149011612.
 * @param {number} value
 */
export function exact(value) {
  if (!Number.isFinite(value)) return special(value);
  for (let digits = 1; digits < 9; digits += 1) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return tidy(String(Number(text)));
  }
  return tidy(String(Number(value.toPrecision(9))));
}

/**
 * Three significant digits; never 0 for what is not 0. Missing is an em dash.
 * @param {number} value
 */
export function short(value) {
  if (!Number.isFinite(value)) return special(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 99950 || size < 0.000995) return tidy(value.toExponential(2));
  return tidy(size >= 999.5 ? String(Math.round(value)) : value.toPrecision(3));
}

/**
 * How far a value is from another, with its sign: "+0.31", "−2"; "=" where they are equal, nothing where either is missing.
 * @param {number} value
 * @param {number} from
 */
export function changeText(value, from) {
  if (value === from) return "=";
  const gap = value - from;
  if (Number.isNaN(gap)) return "";
  return `${gap > 0 ? "+" : ""}${short(gap)}`;
}

/**
 * The ends of a colour scale, "0 – 2.31"; with ≤ or ≥ where values go further. A scale of sizes with `sides` has the same end on both.
 * @param {Pick<ShownMetric, "lo" | "hi" | "min" | "max" | "finite">} given
 * @param {boolean} [sides]
 * @returns {string}
 */
export function rangeText({ lo, hi, min, max, finite }, sides = false) {
  if (finite === 0) return "no number";
  if (sides) return rangeText({ lo: 0, hi, min: 0, max: Math.max(-min, max), finite });
  const low = `${min < lo ? "≤" : ""}${short(lo)}`;
  const high = `${max > hi ? "≥" : ""}${short(hi)}`;
  return low === high ? low : `${low} – ${high}`;
}

/**
 * An integer with thousands separated.
 * @param {number} count
 */
export function whole(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * Which tokens are in view, counted from 1, as `str(Window)` says it in Python.
 * @param {number} start
 * @param {number} n
 * @param {number} total
 */
export function extent(start, n, total) {
  if (n === total) return n === 1 ? "1 token" : `${whole(n)} tokens`;
  return `tokens ${whole(start + 1)}–${whole(start + n)} of ${whole(total)}`;
}

/** @param {number} value */
function special(value) {
  if (Number.isNaN(value)) return "—";
  return value > 0 ? "∞" : `${MINUS}∞`;
}

/** @param {string} text */
function tidy(text) {
  return text.replace("e+", "e").replaceAll("-", MINUS);
}
