// A panel's numbers as columns over its steps, as they are saved, copied and read out. Pure; knows no format of them.

/** @import { Panel } from "./types" */

/**
 * @typedef {object} NumberColumn
 * @property {string} name
 * @property {Float64Array} steps rising
 * @property {Float64Array} values a number per step, NaN where it is missing
 */

/**
 * Every curve, and beside it what it has: the ends of its band, the line before smoothing, and what each value is the mean of.
 * @param {Panel} panel
 * @returns {NumberColumn[]}
 */
export function numberColumns({ curves }) {
  return curves.flatMap(({ name, steps, values, low, high, raw, count }) => {
    const all = [
      { name, values },
      { name: `${name} (band from)`, values: low },
      { name: `${name} (band to)`, values: high },
      { name: `${name} (before smoothing)`, values: raw },
      { name: `${name} (count)`, values: count },
    ];
    return all.flatMap((column) => (column.values ? [{ name: column.name, steps, values: column.values }] : []));
  });
}

/**
 * The steps of all columns, each once, rising.
 * @param {NumberColumn[]} columns
 * @returns {Float64Array}
 */
export function stepsOf(columns) {
  /** @type {Set<number>} */
  const found = new Set();
  for (const steps of new Set(columns.map((column) => column.steps))) for (const step of steps) found.add(step);
  return Float64Array.from(found).sort();
}

/**
 * Each column's number at these steps, which rise: NaN where it is missing, or the column has no such step.
 * @param {NumberColumn[]} columns
 * @param {ArrayLike<number>} steps
 * @returns {Float64Array[]} an array per column
 */
export function valuesAt(columns, steps) {
  return columns.map(({ steps: own, values }) => {
    const found = new Float64Array(steps.length).fill(Number.NaN);
    for (let at = 0, place = 0; at < steps.length; at += 1) {
      while (own[place] < steps[at]) place += 1;
      if (own[place] === steps[at]) found[at] = values[place];
    }
    return found;
  });
}
