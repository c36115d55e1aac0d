// Rows as text to be taken away: between tabs for the clipboard, or as a file of comma-separated values (RFC 4180). Pure.

import { harmless, quoted, untabbed } from "../curves/csv_cells.js";

/** @import { Column } from "./types" */

/**
 * A head line and a line for each row, numbers with all their digits; what is missing is empty.
 * @param {Column[]} columns
 * @param {Iterable<number>} rows
 * @returns {string}
 */
export function separatedByCommas(columns, rows) {
  return joined(columns, rows, ",", quoted).join("\r\n");
}

/**
 * The same between tabs, as a spreadsheet takes it from the clipboard.
 * @param {Column[]} columns
 * @param {Iterable<number>} rows
 * @returns {string}
 */
export function separatedByTabs(columns, rows) {
  return joined(columns, rows, "\t", untabbed).join("\n");
}

/**
 * @param {Column[]} columns
 * @param {Iterable<number>} rows
 * @param {string} separator
 * @param {(text: string) => string} cell
 * @returns {string[]} each line, and an empty one after the last
 */
function joined(columns, rows, separator, cell) {
  const told = columns.filter(({ kind }) => kind !== "colour");
  const head = told.map(({ name }) => cell(harmless(name))).join(separator);
  const isNumber = (/** @type {Column} */ { kind }) => kind === "number" || kind === "bar" || kind === "tick";
  const lines = Array.from(rows, (row) =>
    told.map((column) => cell(isNumber(column) ? column.whole(row) : harmless(column.whole(row)))).join(separator),
  );
  return [head, ...lines, ""];
}
