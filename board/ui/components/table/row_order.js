// Which rows are shown, and in which order: those that hold a text, sorted by a column, what is missing last. Pure.

/** @import { Column, Order } from "./types" */

const compareTexts = new Intl.Collator("en", { numeric: true }).compare;

/**
 * The rows as numbers in the order sent; equal ones stay as they were sent, and missing ones are the last either way.
 * @param {Column[]} columns
 * @param {Order} by
 * @param {Iterable<number>} rows
 * @returns {Uint32Array}
 */
export function inOrder(columns, by, rows) {
  const shown = Uint32Array.from(rows);
  const column = by.column === null ? undefined : columns[by.column];
  if (!column) return shown;
  const ranks = new Map(Array.from(shown, (row) => [row, column.rank(row)]));
  const sign = by.descending ? -1 : 1;
  return shown.sort((one, other) => compareRanks(ranks.get(one) ?? null, ranks.get(other) ?? null, sign) || one - other);
}

/**
 * @param {number | string | null} one
 * @param {number | string | null} other
 * @param {number} sign
 * @returns {number}
 */
function compareRanks(one, other, sign) {
  const [gone, otherGone] = [isMissing(one), isMissing(other)];
  if (gone || otherGone) return Number(gone) - Number(otherGone);
  if (typeof one === "string" && typeof other === "string") return sign * compareTexts(one, other);
  const [left, right] = /** @type {[number, number]} */ ([one, other]);
  return left < right ? -sign : left > right ? sign : 0;
}

/** @param {number | string | null} value */
function isMissing(value) {
  return value === null || value === "" || Number.isNaN(value);
}

/**
 * What a click on a head makes of the order: first as one wants to see it, numbers from the largest, texts from the first; then the other way
 * round; then as it was sent.
 * @param {Column[]} columns
 * @param {Order} before
 * @param {number} at the column
 * @returns {Order}
 */
export function nextOrder(columns, before, at) {
  const first = columns[at].kind !== "text";
  if (before.column !== at) return { column: at, descending: first };
  return before.descending === first ? { column: at, descending: !first } : { column: null, descending: false };
}

/**
 * The text of each row in small letters, for searching.
 * @param {Column[]} columns
 * @param {number} rows
 * @returns {string[]}
 */
export function searched(columns, rows) {
  const told = columns.filter(({ kind }) => kind !== "trend" && kind !== "colour" && kind !== "tick");
  return Array.from({ length: rows }, (_, row) =>
    told
      .map((column) => column.text(row))
      .join("\n")
      .toLowerCase(),
  );
}

/**
 * The rows that hold a text, letter for letter but for case; all where it is empty.
 * @param {string[] | null} texts those of all rows
 * @param {number} rows
 * @param {string} query
 * @returns {number[]}
 */
export function holding(texts, rows, query) {
  const wanted = query.toLowerCase();
  const all = Array.from({ length: rows }, (_, row) => row);
  return wanted && texts ? all.filter((row) => texts[row].includes(wanted)) : all;
}
