// Characters that are seen as one though several tokens spell them: an emoji family, a letter and its accent, a flag. Pure.

import { textOf } from "./bytes.js";

/** @import { Texts, Unit } from "./model_types" */

/** What goes on with the character before it: marks, joiners, selectors, skin tones, tags. */
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each of these alone goes on with a character
const EXTENDS = /^[\p{M}\u200d\ufe00-\ufe0f\p{Emoji_Modifier}\u{e0020}-\u{e007f}]/u;
const PICTOGRAPH = /^\p{Extended_Pictographic}/u;
const FLAG_HALF = /^[\u{1f1e6}-\u{1f1ff}]/u;
const ENDS_WITH_FLAG_HALF = /[\u{1f1e6}-\u{1f1ff}]$/u;
/** Tokens looked at on either side; a family of four takes 25 bytes, and who writes more is drawn apart. */
const NEIGHBOURS = 25;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * `spelled(i)` as of `spell` for token `i` of `texts`, with what its neighbours share: {glyph, part, parts} where one character that is
 * seen is spelled by several tokens. Bytes that are no character are left as they are.
 * @param {(i: number) => Unit[]} spelled
 * @param {Texts} texts
 * @param {number} i
 * @returns {Unit[]}
 */
export function clustered(spelled, texts, i) {
  const own = spelled(i);
  if (!texts.mayExtend(i) && !(i + 1 < texts.n && texts.mayExtend(i + 1))) return own;
  const [first, last] = linked(spelled, texts, i);
  if (first === last) return own;
  const shares = [];
  for (let t = first; t <= last; t += 1) shares.push(t === i ? own : spelled(t));
  if (shares.some((units) => units.some(({ bad }) => bad !== undefined))) return own;
  return shared(shares.map(textOf), i - first);
}

/**
 * The run of tokens around `i` in which each goes on with a character of the one before.
 * @param {(i: number) => Unit[]} spelled
 * @param {Texts} texts
 * @param {number} i
 * @returns {[number, number]}
 */
function linked(spelled, texts, i) {
  let [first, last] = [i, i];
  while (first > Math.max(0, i - NEIGHBOURS) && texts.mayExtend(first) && goesOn(spelled, first)) first -= 1;
  while (last < Math.min(texts.n - 1, i + NEIGHBOURS) && texts.mayExtend(last + 1) && goesOn(spelled, last + 1)) last += 1;
  return [first, last];
}

/**
 * Whether token `i` begins within a character: of bytes, or as it is seen.
 * @param {(i: number) => Unit[]} spelled
 * @param {number} i
 */
function goesOn(spelled, i) {
  const units = spelled(i);
  if ((units[0]?.part ?? 0) > 0) return true;
  const text = textOf(units);
  if (EXTENDS.test(text)) return true;
  if (!PICTOGRAPH.test(text) && !FLAG_HALF.test(text)) return false;
  let before = "";
  for (let t = i - 1; t >= Math.max(0, i - 4) && before === ""; t -= 1) before = textOf(spelled(t));
  return PICTOGRAPH.test(text) ? before.endsWith("\u200d") : ENDS_WITH_FLAG_HALF.test(before);
}

/**
 * The units of token `own` among tokens of these `texts`; an empty one is a share of the character before it.
 * @param {string[]} texts
 * @param {number} own
 * @returns {Unit[]}
 */
function shared(texts, own) {
  const owners = [];
  for (const [t, text] of texts.entries()) owners.push(...Array(text.length).fill(t));
  const units = [];
  for (const { segment, index } of graphemes.segment(texts.join(""))) {
    const from = owners[index];
    let to = owners[index + segment.length - 1];
    // Empty shares are of the last character of the token before them, not of those it holds whole.
    if (owners[index + segment.length] !== to) while (to + 1 < texts.length && texts[to + 1] === "") to += 1;
    if (own < from || own > to) continue;
    const previous = units[units.length - 1];
    if (to > from) units.push({ glyph: segment, part: own - from, parts: to - from + 1 });
    else if (previous?.text !== undefined) previous.text += segment;
    else units.push({ text: segment });
  }
  return units;
}
