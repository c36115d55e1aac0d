// The zoom range: the part of the response that chart and heatmap show: {from, count} in tokens, fractions allowed while it moves. Pure.

/** @import { Match } from "./model_types" */
/** @import { ZoomRange } from "./view_types" */

/** Fewest tokens that are shown at once, where the response has as many. */
const CLOSEST_COUNT = 4;
const SHORT_FORM = /^(\d{1,12})-(\d{1,12})$/;

/**
 * The whole response of `n` tokens.
 * @param {number} n
 */
export function wholeZoomRange(n) {
  return { from: 0, count: n };
}

/**
 * The nearest zoom range that the response has.
 * @param {number} n
 * @param {ZoomRange} zoomRange
 */
export function fitZoomRange(n, { from, count }) {
  const size = Math.min(n, Math.max(Math.min(n, CLOSEST_COUNT), count));
  return { from: Math.min(n - size, Math.max(0, from)), count: size };
}

/**
 * `factor` times as close, the place `around` (in tokens, from the response's start) staying where it is; 0 shows everything.
 * @param {number} n
 * @param {ZoomRange} zoomRange
 * @param {number} factor
 * @param {number} around
 */
export function scaleZoomRange(n, zoomRange, factor, around) {
  if (factor === 0) return wholeZoomRange(n);
  const { count } = fitZoomRange(n, { from: 0, count: zoomRange.count / factor });
  const share = (around - zoomRange.from) / zoomRange.count;
  return fitZoomRange(n, { from: around - share * count, count });
}

/**
 * Moved by a share of its own length: 0.5 is half of it forwards.
 * @param {number} n
 * @param {ZoomRange} zoomRange
 * @param {number} share
 */
export function panZoomRange(n, { from, count }, share) {
  return fitZoomRange(n, { from: from + share * count, count });
}

/**
 * From one token to another, both included and in either order.
 * @param {number} n
 * @param {number} one
 * @param {number} other
 */
export function betweenTokens(n, one, other) {
  const [first, last] = one <= other ? [one, other] : [other, one];
  return fitZoomRange(n, { from: first, count: last + 1 - first });
}

/**
 * The same length with token `index` in its middle, or as it is where it shows that token already.
 * @param {number} n
 * @param {ZoomRange} zoomRange
 * @param {number} index
 */
export function zoomRangeWith(n, zoomRange, index) {
  const { from, count } = zoomRange;
  return index >= from && index + 1 <= from + count ? zoomRange : fitZoomRange(n, { from: index + 0.5 - count / 2, count });
}

/**
 * Whether any of token `index` is in the zoom range.
 * @param {ZoomRange} zoomRange
 * @param {number} index
 */
export function showsToken({ from, count }, index) {
  return index + 1 > from && index < from + count;
}

/**
 * First and last token of a zoom range, as indices: those that are seen by at least a half.
 * @param {number} n
 * @param {ZoomRange} zoomRange
 * @returns {Match}
 */
export function tokensOfZoomRange(n, { from, count }) {
  const first = Math.min(n - 1, Math.max(0, Math.round(from)));
  return [first, Math.max(first, Math.min(n - 1, Math.round(from + count) - 1))];
}

/**
 * The short form: "first-last", tokens counted from 0 in the whole response, whose token `start` is our first; "all" for everything.
 * @param {number} n
 * @param {ZoomRange} zoomRange
 * @param {number} start
 */
export function zoomRangeName(n, zoomRange, start) {
  if (n === 0 || zoomRange.count >= n) return "all";
  return tokensOfZoomRange(n, zoomRange)
    .map((index) => start + index)
    .join("-");
}

/**
 * The zoom range of a short form; null for what is none, or lies elsewhere.
 * @param {number} n
 * @param {string | null | undefined} text
 * @param {number} start
 * @returns {ZoomRange | null}
 */
export function readZoomRange(n, text, start) {
  if (text === "all") return wholeZoomRange(n);
  const found = SHORT_FORM.exec(text ?? "");
  if (!found) return null;
  const [first, last] = [Number(found[1]) - start, Number(found[2]) - start];
  if (first > last || last < 0 || first >= n) return null;
  return betweenTokens(n, Math.max(0, first), Math.min(n - 1, last));
}
