// Numbers as a column's printf format writes them: "%d", "%,d", "%.2f", "%.2e", "%.3g", "%.0f %%". Pure.

const PRINTF = /^(.*?)%(,?)(?:\.(\d+))?([dfeg])(.*)$/s;

/** What stands for a value that is not there. */
export const NOT_THERE = "–";

/**
 * @param {string} format
 * @returns {(value: number) => string}
 */
export function printer(format) {
  const found = PRINTF.exec(format);
  if (!found) return (value) => unusual(value) ?? String(value);
  const [, before, grouped, digits, kind, after] = found;
  const ways = /** @type {Record<string, (value: number) => string>} */ ({
    d: (value) => value.toFixed(0),
    f: (value) => value.toFixed(Number(digits ?? 6)),
    e: (value) => tidyPower(value.toExponential(Number(digits ?? 6))),
    g: (value) => general(value, Number(digits ?? 6) || 1),
  });
  const [start, end] = [before, after].map((text) => text.replaceAll("%%", "%"));
  return (value) => {
    const written = unusual(value);
    if (written !== null) return written;
    const text = ways[kind](value);
    const plain = Number(text) === 0 ? text.replace("-", "") : text;
    return start + (grouped ? inThousands(plain) : plain) + end;
  };
}

/**
 * What is no finite number, or too large for digits.
 * @param {number} value
 */
function unusual(value) {
  if (Number.isNaN(value)) return NOT_THERE;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  return null;
}

/**
 * As printf's %g: so many significant digits, powers of ten only for what is very small or large, no zeros at the end.
 * @param {number} value
 * @param {number} digits
 */
function general(value, digits) {
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < digits) return withoutZeros(value.toFixed(digits - 1 - power));
  return tidyPower(`${withoutZeros(mantissa)}e${exponent}`);
}

/** @param {string} text */
function withoutZeros(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** @param {string} text */
function tidyPower(text) {
  return text.replace("e+", "e");
}

/** @param {string} text */
function inThousands(text) {
  const [whole, ...rest] = text.split(".");
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}
