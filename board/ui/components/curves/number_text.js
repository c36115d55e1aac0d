// Numbers as the board writes them (`board.text.format_number.fmt`): three significant digits, whole numbers whole, never 0 for what is not. Pure.

export const MINUS = "\u2212";

/** What stands for a number that is not there. */
export const MISSING = "–";

/**
 * @param {number} value
 * @returns {string}
 */
export function numberText(value) {
  if (Number.isNaN(value)) return MISSING;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  return plainText(value).replaceAll("-", MINUS);
}

/** @param {number} step */
export function stepText(step) {
  return step.toLocaleString("en").replaceAll("-", MINUS);
}

/** @param {number} value */
function plainText(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const [digits, exponent] = value.toExponential(2).split("e");
  const power = Number(exponent);
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return `${digits}e${power}`;
  const decimals = Math.max(0, 2 - power);
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
