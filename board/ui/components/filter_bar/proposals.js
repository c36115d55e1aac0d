// What may be meant at a place in a condition: columns by the letters that stand there, or what a column may be equal to. Pure.

/** @import { Column, Proposal } from "./types" */

export const MOST_PROPOSALS = 8;

const WORD = /[\p{L}\p{N}_."]*$/u;
const VALUE = /([\p{L}\p{N}_]+|"(?:[^"]|"")*")\s*(?:=|<>|!=|\bIN\s*\((?:[^()]*,)?|\bLIKE\b|\bILIKE\b)\s*('(?:[^']|'')*)?$/iu;

/**
 * What may stand at the end of `before`, the text left of the caret, and where what it replaces begins.
 * @param {string} before
 * @param {Column[]} columns
 * @returns {{ from: number; proposals: Proposal[] }}
 */
export function proposed(before, columns) {
  const value = VALUE.exec(before);
  const column = value && columns.find((one) => same(one.name, value[1]));
  if (value && column?.values.length) {
    const typed = value[2] ?? "";
    const fitting = column.values.filter((one) => folded(one).includes(folded(typed.replace(/^'/, ""))));
    return { from: before.length - typed.length, proposals: listed(fitting.map((text) => ({ text, about: column.name }))) };
  }
  if (inText(before)) return { from: before.length, proposals: [] };
  const word = WORD.exec(before)?.[0] ?? "";
  if (!word) return { from: before.length, proposals: [] };
  const wanted = folded(word.replaceAll('"', ""));
  const fitting = columns
    .filter((one) => folded(one.name).includes(wanted) && !same(one.name, word))
    .sort((one, other) => rank(one.name, wanted) - rank(other.name, wanted));
  return {
    from: before.length - word.length,
    proposals: listed(fitting.map((one) => ({ text: one.name, about: [one.kind, one.meaning].filter(Boolean).join(" · ") }))),
  };
}

/**
 * Whether a text's quote is open at the end.
 * @param {string} before
 */
function inText(before) {
  return (before.match(/'/g) ?? []).length % 2 === 1;
}

/** @param {Proposal[]} found */
const listed = (found) => found.slice(0, MOST_PROPOSALS);

/** @param {string} text */
const folded = (text) => text.toLowerCase().replaceAll('"', "");

/**
 * @param {string} one
 * @param {string} other
 */
const same = (one, other) => folded(one) === folded(other);

/**
 * Names that begin with it first, then those with a part that does.
 * @param {string} name
 * @param {string} wanted
 */
function rank(name, wanted) {
  const at = folded(name).indexOf(wanted);
  return at === 0 ? 0 : folded(name)[at - 1] === "_" ? 1 : 2;
}
