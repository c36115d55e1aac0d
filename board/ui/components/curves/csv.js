// A panel's numbers as a file of comma-separated values (RFC 4180), and as tab-separated text for copying. Pure.

import { numberColumns, stepsOf, valuesAt } from "./number_columns.js";

/** @import { Panel } from "./types" */

const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/; // a cell that begins so is computed by a spreadsheet, the full-width forms by some
const QUOTED = /[",\r\n]/;

/**
 * A row per step: the step, and a column for each curve and for what it has beside its line. Numbers have all their digits; what is missing
 * is empty.
 * @param {Panel} panel
 * @returns {string}
 */
export function csvOf(panel) {
  return textLines(panel, ",", (name) => (QUOTED.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join("\r\n");
}

/**
 * The same between tabs, as a spreadsheet takes it from the clipboard: a name that holds a tab or a line end has a space there.
 * @param {Panel} panel
 * @returns {string}
 */
export function tabSeparated(panel) {
  return textLines(panel, "\t", (name) => name.replaceAll(/[\t\r\n]/g, " ")).join("\n");
}

/**
 * @param {Panel} panel
 * @param {string} separator
 * @param {(name: string) => string} quoted
 * @returns {string[]} each line, and an empty one after the last
 */
function textLines(panel, separator, quoted) {
  const columns = numberColumns(panel);
  const steps = stepsOf(columns);
  const values = valuesAt(columns, steps);
  const head = [panel.axis, ...columns.map(({ name }) => quoted(harmless(name)))];
  const rows = Array.from(steps, (step, at) => [step, ...values.map((column) => numberCell(column[at]))].join(separator));
  return [head.join(separator), ...rows, ""];
}

/** @param {string} name */
function harmless(name) {
  return FORMULA_START.test(name) ? `'${name}` : name;
}

/** @param {number} value */
function numberCell(value) {
  return Number.isNaN(value) ? "" : String(value);
}
