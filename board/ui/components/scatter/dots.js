// What is drawn, out of what was sent: points, those at one place as one, or the cells of a density that hold any. Pure.

/** @import { Dots, Meta, Sent } from "./types" */

const MOST_STACKS = 2_000; // of more the points are drawn one by one

/**
 * @param {Sent} sent
 * @returns {Dots}
 */
export function dotsOf({ meta, numbers }) {
  const column = (/** @type {number} */ at) => numbers.getChildAt(at)?.toArray() ?? new Float32Array(0);
  if (meta.kind === "density") return cellsOf(meta, column(0), column(1));
  const [x, y] = [column(0), column(1)];
  return stacked(x, y, column(2)) ?? { x, y, color: column(2), counts: null, stacks: null, size: x.length };
}

/**
 * Points by their places, where these are few: what lies at one place is one dot, its third number the mean. Null where there are many.
 * @param {Float32Array} x
 * @param {Float32Array} y
 * @param {Float32Array} color
 * @returns {Dots | null}
 */
function stacked(x, y, color) {
  /** @type {Map<number, Map<number, number[]>>} */
  const columns = new Map();
  /** @type {number[][]} */
  const stacks = [];
  for (let at = 0; at < x.length; at += 1) {
    const column = columns.get(x[at]) ?? new Map();
    const stack = column.get(y[at]);
    if (stack) stack.push(at);
    else {
      if (stacks.length === MOST_STACKS) return null;
      stacks.push([at]);
      columns.set(x[at], column.set(y[at], stacks[stacks.length - 1]));
    }
  }
  return {
    x: Float32Array.from(stacks, ([one]) => x[one]),
    y: Float32Array.from(stacks, ([one]) => y[one]),
    color: Float32Array.from(stacks, (stack) => mean(color, stack)),
    counts: Float32Array.from(stacks, ({ length }) => length),
    stacks,
    size: stacks.length,
  };
}

/**
 * @param {Float32Array} values
 * @param {number[]} at
 */
function mean(values, at) {
  const known = at.filter((one) => !Number.isNaN(values[one]));
  return known.reduce((sum, one) => sum + values[one], 0) / known.length; // NaN of none
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
