// Cells of files of comma-separated values (RFC 4180), and of text between tabs. Pure.

const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/; // a cell that begins so is computed by a spreadsheet, the full-width forms by some
const QUOTED = /[",\r\n]/;

/**
 * A text that no spreadsheet computes.
 * @param {string} text
 */
export function harmless(text) {
  return FORMULA_START.test(text) ? `'${text}` : text;
}

/**
 * A cell between commas.
 * @param {string} text
 */
export function quoted(text) {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A cell between tabs, as a spreadsheet takes it from the clipboard: a tab or a line end in it becomes a space.
 * @param {string} text
 */
export function untabbed(text) {
  return text.replaceAll(/[\t\r\n]/g, " ");
}
