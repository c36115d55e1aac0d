// From a metric's numbers to places on its colour scale. Pure; knows nothing of colours or the page.
//
// A place is a number: 0 is quiet, 1 is loud; on a diverging scale -1 is the loud end below zero. NaN stays NaN (missing),
// infinities keep their sign and are drawn as such.

/** @import { ColorRange, Scale } from "./model_types" */
/** @import { MetricMeta } from "./payload_types" */
/** @import { Ends } from "./plain_types" */

/** Steps from quiet to loud on one side of a scale; text is coloured in steps so that recolouring only swaps class names. */
export const STEPS = 12;
/** Share of the tokens that lie beyond an end of a scale. A spike then still gets the loudest colour and does not flatten the rest. */
const TAIL = 0.01;
const DECADES = 1000;

/**
 * The scale of `values` (Float32Array) by what the server says of the metric ({scale, loud, range}); only finite values whose
 * `counts` is 1 shape it. `colorRange` is the reader's ({kind, ends} as in color_ranges.js).
 * Returns {scale, loud, log, lo, hi, min, max, finite}: the ends that are coloured, and the true extremes.
 * @param {Float32Array} values
 * @param {Uint8Array} counts
 * @param {Pick<MetricMeta, "scale" | "loud" | "range">} meta
 * @param {ColorRange} [colorRange]
 * @returns {Scale}
 */
export function scaleOf(values, counts, meta, colorRange = { kind: "q", ends: null }) {
  const kept = keptOf(values, counts);
  const base = { scale: meta.scale, loud: meta.loud, log: colorRange.kind === "log", finite: kept.length };
  if (kept.length === 0) return { ...base, lo: NaN, hi: NaN, min: NaN, max: NaN };
  const [min, max] = boundsOf(kept);
  const diverging = meta.scale === "diverging";
  const whole = colorRange.kind === "full" || colorRange.kind === "log";
  const [lo, hi] =
    colorRange.ends ?? (whole ? fromZero(min, max) : (meta.range ?? (diverging ? symmetric(kept) : oneSided(kept))));
  if (!diverging) return { ...base, lo, hi, min, max };
  const end = Math.max(Math.abs(lo), Math.abs(hi));
  return { ...base, lo: 0 - end, hi: end, min, max };
}

/**
 * The quantile range of what is drawn when many tokens share a pixel: of the `columns`' tokens (indices, -1 for none), each the loudest of
 * its pixel. By the range of all tokens nearly every column would have the loudest colour, and from zero up too; only a diverging metric
 * keeps zero in its middle. `base` is the scale of all tokens.
 * @param {Scale} base
 * @param {Float32Array} values
 * @param {ArrayLike<number>} columns
 * @returns {Scale}
 */
export function scaleOfColumns(base, values, columns) {
  const drawn = Float32Array.from(columns, (token) => (token < 0 ? NaN : values[token])).filter(Number.isFinite);
  if (drawn.length === 0) return base;
  const [min, max] = boundsOf(drawn);
  const [lo, hi] = base.scale === "diverging" ? symmetric(drawn) : quantiles(drawn);
  return { ...base, lo, hi, min, max };
}

/**
 * Where a value lies: 0 to 1, or -1 to 1 on a diverging scale; beyond the ends is the end. A constant metric is quiet.
 * @param {Scale} scale
 * @param {number} value
 */
export function placeOn(scale, value) {
  if (Number.isNaN(value) || scale.finite === 0) return NaN;
  const { lo, hi } = scale;
  if (scale.scale === "diverging") {
    return hi === 0 ? Math.sign(value) : bent(scale, clamp(value / hi, -1, 1));
  }
  if (hi === lo) return value > hi || value < lo ? 1 : 0;
  const share = clamp((value - lo) / (hi - lo), 0, 1);
  return bent(scale, scale.loud === "low" ? 1 - share : share);
}

/**
 * Sizes with the signs of other numbers; a size whose sign is not known stays above zero.
 * @param {Float32Array} sizes
 * @param {Float32Array} signs
 */
export function sided(sizes, signs) {
  const out = new Float32Array(sizes.length);
  for (let i = 0; i < sizes.length; i += 1) out[i] = signs[i] < 0 ? -Math.abs(sizes[i]) : Math.abs(sizes[i]);
  return out;
}

/**
 * The places of all values. Plain loops here and below: `Float32Array.from` with a function costs ten times as much at 100,000 tokens.
 * @param {Scale} scale
 * @param {Float32Array} values
 */
export function placesOf(scale, values) {
  const places = new Float32Array(values.length);
  for (let i = 0; i < values.length; i += 1) places[i] = placeOn(scale, values[i]);
  return places;
}

/**
 * The value that lies at a place, for the legend.
 * @param {Scale} scale
 * @param {number} at
 */
export function valueAt(scale, at) {
  const straight = unbent(scale, at);
  if (scale.scale === "diverging") return straight * scale.hi;
  const share = scale.loud === "low" ? 1 - straight : straight;
  return scale.lo + share * (scale.hi - scale.lo);
}

/**
 * Colour step of a place: 0 to STEPS - 1, negative below zero; null when the value is missing.
 * @param {number} at
 */
export function stepOf(at) {
  if (Number.isNaN(at)) return null;
  const step = Math.min(STEPS - 1, Math.floor(Math.abs(at) * STEPS));
  return at < 0 ? 0 - step : step;
}

/**
 * Thickness of the underline, 0 to 3: the same place, readable without colour.
 * @param {number} at
 */
export function barOf(at) {
  if (Number.isNaN(at)) return 0;
  const size = Math.abs(at);
  if (size < 0.25) return 0;
  return size < 0.5 ? 1 : size < 0.75 ? 2 : 3;
}

/**
 * A logarithmic scale grows evenly with every factor, down to a DECADES-th of its range; below that it is straight, to reach zero.
 * @param {Scale} scale
 * @param {number} at
 */
function bent(scale, at) {
  return scale.log ? logBent(at) : at;
}

/**
 * A share of -1 to 1 on the logarithmic scale.
 * @param {number} at
 */
export function logBent(at) {
  return Math.sign(at) * (Math.log1p(DECADES * Math.abs(at)) / Math.log1p(DECADES));
}

/**
 * @param {Scale} scale
 * @param {number} at
 */
function unbent(scale, at) {
  return scale.log ? Math.sign(at) * (Math.expm1(Math.abs(at) * Math.log1p(DECADES)) / DECADES) : at;
}

/**
 * @param {Float32Array} values
 * @param {Uint8Array} counts
 */
function keptOf(values, counts) {
  const kept = new Float32Array(values.length);
  let n = 0;
  for (let i = 0; i < values.length; i += 1) if (counts[i] === 1 && Number.isFinite(values[i])) kept[n++] = values[i];
  return kept.slice(0, n);
}

/**
 * @param {Float32Array} kept
 * @returns {Ends}
 */
function oneSided(kept) {
  return fromZero(...quantiles(kept));
}

/**
 * All but the tails; where nothing else is left, all.
 * @param {Float32Array} kept
 * @returns {Ends}
 */
function quantiles(kept) {
  const last = kept.length - 1;
  const bounds = boundsOf(kept);
  const lo = nth(kept, Math.floor(TAIL * last));
  const hi = nth(kept, Math.ceil((1 - TAIL) * last));
  return hi === lo ? bounds : [lo, hi];
}

/**
 * Start at zero where zero is near: quiet then means "none" instead of "least of these".
 * @param {number} lo
 * @param {number} hi
 * @returns {Ends}
 */
export function fromZero(lo, hi) {
  if (lo >= 0 && lo <= hi - lo) return [0, hi];
  if (hi <= 0 && -hi <= hi - lo) return [lo, 0];
  return [lo, hi];
}

/**
 * @param {Float32Array} kept
 * @returns {Ends}
 */
function symmetric(kept) {
  const sizes = kept.map(Math.abs);
  const end = nth(sizes, Math.ceil((1 - TAIL) * (sizes.length - 1))) || boundsOf(sizes)[1];
  return [-end, end];
}

/**
 * @param {Float32Array} numbers
 * @returns {Ends}
 */
function boundsOf(numbers) {
  let [min, max] = [Infinity, -Infinity];
  for (let i = 0; i < numbers.length; i += 1) {
    if (numbers[i] < min) min = numbers[i];
    if (numbers[i] > max) max = numbers[i];
  }
  return [min, max];
}

/**
 * What would stand at place `k` if the numbers were sorted; reorders them. Hoare's selection: a sort of 1,000,000 takes ten times as long.
 * @param {Float32Array} numbers
 * @param {number} k
 */
export function nth(numbers, k) {
  let [left, right] = [0, numbers.length - 1];
  while (left < right) {
    const pivot = numbers[(left + right) >> 1];
    let [i, j] = [left, right];
    while (i <= j) {
      while (numbers[i] < pivot) i += 1;
      while (numbers[j] > pivot) j -= 1;
      if (i <= j) {
        const other = numbers[i];
        numbers[i] = numbers[j];
        numbers[j] = other;
        i += 1;
        j -= 1;
      }
    }
    if (k <= j) right = j;
    else if (k >= i) left = i;
    else break;
  }
  return numbers[k];
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
