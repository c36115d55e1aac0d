// What is drawn, out of what was sent: points as they are, of a density the cells that hold any. Pure.

/** @import { Dots, Meta, Sent } from "./types" */

/**
 * @param {Sent} sent
 * @returns {Dots}
 */
export function dotsOf({ meta, numbers }) {
  const column = (/** @type {number} */ at) => numbers.getChildAt(at)?.toArray() ?? new Float32Array(0);
  if (meta.kind !== "points") return cellsOf(meta, column(0), column(1));
  const [x, y] = [column(0), column(1)];
  return { x, y, color: column(2), counts: null, stacks: stacksOf(x, y), size: numbers.numRows };
}

/**
 * How many points lie at the place of each.
 * @param {Float32Array} x
 * @param {Float32Array} y
 */
function stacksOf(x, y) {
  const order = orderBy(x, y);
  const stacks = new Uint32Array(x.length);
  let first = 0;
  for (let one = 1; one <= order.length; one += 1) {
    if (one < order.length && x[order[one]] === x[order[first]] && y[order[one]] === y[order[first]]) continue;
    for (let at = first; at < one; at += 1) stacks[order[at]] = one - first;
    first = one;
  }
  return stacks;
}

/**
 * @param {Meta} meta
 * @param {Float32Array} counts
 * @param {Float32Array} means
 * @returns {Dots}
 */
function cellsOf({ columns, rows }, counts, means) {
  const filled = Uint32Array.from(counts.keys()).filter((cell) => counts[cell] > 0);
  /** @param {(cell: number) => number} value */
  const each = (value) => Float32Array.from(filled, value);
  return {
    x: each((cell) => ((cell % columns) + 0.5) / columns),
    y: each((cell) => (Math.floor(cell / columns) + 0.5) / rows),
    color: each((cell) => means[cell]),
    counts: each((cell) => counts[cell]),
    stacks: null,
    size: filled.length,
  };
}

/**
 * The dots in the order of one of their coordinates, equal ones in that of the other.
 * @param {Float32Array} first
 * @param {Float32Array} second
 * @returns {Uint32Array}
 */
export function orderBy(first, second) {
  return Uint32Array.from(first.keys()).sort((one, other) => first[one] - first[other] || second[one] - second[other]);
}
