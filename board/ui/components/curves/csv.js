// A panel's numbers as a file of comma-separated values (RFC 4180), and as tab-separated text for copying. Pure.

import { harmless, quoted, untabbed } from "./csv_cells.js";
import { numberColumns, stepsOf, valuesAt } from "./number_columns.js";

/** @import { Panel } from "./types" */

/**
 * A row per step: the step, and a column for each curve and for what it has beside its line. Numbers have all their digits; what is missing
 * is empty.
 * @param {Panel} panel
 * @returns {string}
 */
export function csvOf(panel) {
  return textLines(panel, ",", quoted).join("\r\n");
}

/**
 * The same between tabs, as a spreadsheet takes it from the clipboard: a name that holds a tab or a line end has a space there.
 * @param {Panel} panel
 * @returns {string}
 */
export function tabSeparated(panel) {
  return textLines(panel, "\t", untabbed).join("\n");
}

/**
 * @param {Panel} panel
 * @param {string} separator
 * @param {(name: string) => string} cell
 * @returns {string[]} each line, and an empty one after the last
 */
function textLines(panel, separator, cell) {
  const columns = numberColumns(panel);
  const steps = stepsOf(columns);
  const values = valuesAt(columns, steps);
  const head = [panel.axis, ...columns.map(({ name }) => cell(harmless(name)))];
  const rows = Array.from(steps, (step, at) => [step, ...values.map((column) => numberCell(column[at]))].join(separator));
  return [head.join(separator), ...rows, ""];
}

/** @param {number} value */
function numberCell(value) {
  return Number.isNaN(value) ? "" : String(value);
}
