// A panel's numbers as a table to be read: by who hears it, or wants the digits. Pure; knows no elements.

import { stepsOf, valuesAt } from "./number_columns.js";
import { numberText, stepText } from "./number_text.js";

/** @import { Panel } from "./types" */

const MOST_ROWS = 200;

/**
 * A row per step with the value of each curve there. Of more steps than `most` so many are chosen evenly, the first and the last among them, and
 * the note says so; it is empty where nothing is left out.
 * @param {Panel} panel
 * @param {number} [most] at least 2
 * @returns {{ head: string[]; rows: string[][]; note: string }}
 */
export function tableOf({ curves, axis }, most = MOST_ROWS) {
  const all = stepsOf(curves);
  const few = Math.min(most, all.length);
  const steps = few === all.length ? all : Float64Array.from({ length: few }, (_, at) => all[evenPlace(at, few, all.length)]);
  const values = valuesAt(curves, steps);
  return {
    head: [axis, ...curves.map(({ name }) => name)],
    rows: Array.from(steps, (step, at) => [stepText(step), ...values.map((column) => numberText(column[at]))]),
    note: few === all.length ? "" : `${stepText(few)} of ${stepText(all.length)} steps, evenly chosen; the CSV file has all.`,
  };
}

/**
 * The place among `length` of the one that is `at` of `few`: the first is the first, the last is the last.
 * @param {number} at
 * @param {number} few at least 2
 * @param {number} length
 */
function evenPlace(at, few, length) {
  return Math.round((at * (length - 1)) / (few - 1));
}
