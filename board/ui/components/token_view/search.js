// Where to look in a long response: its most extreme tokens and the places of a searched text. Pure.

import { nth } from "./scale.js";
import { chunkOf } from "./tokens.js";

/** @import { JoinedTexts, Match, ShownMetric } from "./model_types" */

/** Share of a response whose tokens count as extreme, and how many do at least. */
const SHARE = 0.01;
const FEWEST = 20;
const MOST = 0.1;
/** Matches that are told apart; a search for "e" in a long response needs no more. */
const MOST_MATCHES = 100_000;

/**
 * How loud each token is in the metric's own unit, as a distance from the scale's quiet end, never cut off at its loud one, so that one
 * spike stands out even among tokens of the loudest colour. Masked and missing tokens are -1, infinities infinite.
 * @param {Pick<ShownMetric, "values" | "scale" | "loud" | "lo" | "hi">} given
 * @param {Uint8Array} counts
 */
export function loudnessOf({ values, scale, loud, lo, hi }, counts) {
  const loudness = new Float32Array(values.length);
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (counts[i] === 0 || Number.isNaN(value)) loudness[i] = -1;
    else if (scale === "diverging") loudness[i] = Math.abs(value);
    else loudness[i] = Math.max(0, loud === "low" ? hi - value : value - lo);
  }
  return loudness;
}

/**
 * The loudest tokens in the order of the response: one in a hundred, of short ones one in ten up to 20, and three at the least; a token that is quiet is none of them.
 * @param {Float32Array} loudness
 * @returns {number[]}
 */
export function extremesOf(loudness) {
  const heard = loudness.filter((size) => size > 0);
  if (heard.length === 0) return [];
  const fewest = Math.min(FEWEST, Math.max(3, Math.ceil(MOST * loudness.length)));
  const wanted = Math.min(heard.length, Math.max(fewest, Math.ceil(SHARE * loudness.length)));
  const least = nth(heard, heard.length - wanted);
  const found = [];
  for (let i = 0; i < loudness.length; i += 1) if (loudness[i] >= least && loudness[i] > 0) found.push(i);
  if (found.length <= 2 * wanted) return found;
  // Many tokens share the least loudness; those above it, if there are any, say more.
  const above = found.filter((i) => loudness[i] > least);
  return above.length > 0 ? above : found;
}

/**
 * The entry of `positions` (rising) after or before `from`, going round at the ends; null when there is none.
 * @param {number[]} positions
 * @param {number | null} from
 * @param {number} direction
 * @returns {number | null}
 */
export function stepAlong(positions, from, direction) {
  if (positions.length === 0) return null;
  if (from === null) return positions[direction > 0 ? 0 : positions.length - 1];
  const next = direction > 0 ? positions.find((at) => at > from) : positions.findLast((at) => at < from);
  return next ?? positions[direction > 0 ? 0 : positions.length - 1];
}

/**
 * All texts as one string, and where in it each starts.
 * @param {number} n
 * @param {(i: number) => string} textOf
 * @returns {JoinedTexts}
 */
export function joinedTexts(n, textOf) {
  const starts = new Uint32Array(n);
  const parts = new Array(n);
  let length = 0;
  for (let i = 0; i < n; i += 1) {
    starts[i] = length;
    parts[i] = textOf(i);
    length += parts[i].length;
  }
  return { text: parts.join(""), starts };
}

/**
 * The matches of `query` as [first token, last token]; capitals matter only where the query has some.
 * @param {JoinedTexts} joined
 * @param {string} query
 * @returns {Match[]}
 */
export function matchesOf({ text, starts }, query) {
  if (query === "") return [];
  const literally = query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const finder = new RegExp(literally, query === query.toLowerCase() ? "gi" : "g");
  /** @type {Match[]} */
  const found = [];
  for (const match of text.matchAll(finder)) {
    found.push([chunkOf(starts, match.index), chunkOf(starts, match.index + match[0].length - 1)]);
    if (found.length === MOST_MATCHES) break;
  }
  return found;
}

/**
 * Which tokens of a response of `n` lie in a match: 1, and 2 in the `current` one.
 * @param {number} n
 * @param {Match[]} matches
 * @param {number} current
 */
export function matchMarks(n, matches, current) {
  const marks = new Uint8Array(n);
  for (const [first, last] of matches) marks.fill(1, first, last + 1);
  if (current >= 0) marks.fill(2, matches[current][0], matches[current][1] + 1);
  return marks;
}

/**
 * The match at or after token `from`, going round at the end; -1 when there is none.
 * @param {Match[]} matches
 * @param {number} from
 */
export function matchFrom(matches, from) {
  if (matches.length === 0) return -1;
  const at = matches.findIndex(([first]) => first >= from);
  return Math.max(0, at);
}
