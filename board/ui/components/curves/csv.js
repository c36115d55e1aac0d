// A panel's numbers as a file of comma-separated values (RFC 4180). Pure.

import { harmless, quoted } from "./csv_cells.js";
import { numberColumns, stepsOf, valuesAt } from "./number_columns.js";

/** @import { Panel } from "./types" */

/**
 * A row per step: the step, and a column for each curve and for what it has beside its line. Numbers have all their digits; what is missing
 * is empty.
 * @param {Panel} panel
 * @returns {string}
 */
export function csvOf(panel) {
  const columns = numberColumns(panel);
  const steps = stepsOf(columns);
  const values = valuesAt(columns, steps);
  const head = [panel.axis, ...columns.map(({ name }) => quoted(harmless(name)))];
  const rows = Array.from(steps, (step, at) => [step, ...values.map((column) => numberCell(column[at]))].join(","));
  return [head.join(","), ...rows, ""].join("\r\n");
}

/** @param {number} value */
function numberCell(value) {
  return Number.isNaN(value) ? "" : String(value);
}
