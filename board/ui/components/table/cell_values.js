// The Arrow columns that the server sends → columns that can be asked for their cells: as shown, as copied, as sorted. Pure.

import { NOT_THERE, printer } from "./number_format.js";

/** @import { ArrowVector, Cells, Column, Sent, SentColumn } from "./types" */

/**
 * @param {Sent} sent
 * @returns {Column[]}
 */
export function columnsOf({ meta, cells }) {
  return meta.columns.map((column, at) => {
    const vector = /** @type {ArrowVector} */ (cells.getChildAt(at));
    if (column.kind === "trend") return lines(column, vector);
    if (column.kind === "tags") return lists(column, vector);
    return column.kind === "text" || column.kind === "colour" ? texts(column, vector) : numbers(column, vector);
  });
}

const NOTHING = { line: () => [], tags: () => [] };

/**
 * @param {SentColumn} column
 * @param {ArrowVector} vector
 * @returns {Column}
 */
function numbers(column, vector) {
  const values = vector.toArray();
  const written = printer(column.format);
  const whole = (/** @type {number} */ row) => (Number.isNaN(values[row]) ? "" : String(values[row]));
  return { ...column, ...NOTHING, whole, rank: (row) => values[row], text: (row) => written(values[row]) };
}

/**
 * @param {SentColumn} column
 * @param {ArrowVector} vector
 * @returns {Column}
 */
function texts(column, vector) {
  const at = (/** @type {number} */ row) => /** @type {string | null} */ (vector.get(row));
  return { ...column, ...NOTHING, whole: (row) => at(row) ?? "", rank: at, text: (row) => at(row) ?? NOT_THERE };
}

/**
 * @param {SentColumn} column
 * @param {ArrowVector} vector
 * @returns {Column}
 */
function lines(column, vector) {
  const line = (/** @type {number} */ row) => /** @type {Cells | null} */ (vector.get(row))?.toArray() ?? [];
  const whole = (/** @type {number} */ row) => Array.from(line(row), (one) => (Number.isNaN(one) ? "" : shortest(one))).join(" ");
  const rank = (/** @type {number} */ row) => Array.from(line(row)).findLast(Number.isFinite) ?? Number.NaN;
  return { ...column, tags: NOTHING.tags, line, whole, rank, text: whole };
}

/**
 * @param {SentColumn} column
 * @param {ArrowVector} vector
 * @returns {Column}
 */
function lists(column, vector) {
  const tags = (/** @type {number} */ row) =>
    Array.from(/** @type {Cells} */ (vector.get(row) ?? []), (one) => /** @type {string} */ (one));
  const whole = (/** @type {number} */ row) => tags(row).join(", ");
  return { ...column, line: NOTHING.line, tags, whole, rank: (row) => whole(row) || null, text: whole };
}

/**
 * The few digits that a float32 has, of the many that a float64 of it shows.
 * @param {number} value
 */
function shortest(value) {
  return String(Number(value.toPrecision(7)));
}
