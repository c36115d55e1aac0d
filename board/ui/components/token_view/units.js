// Words, sentences and segments as runs of tokens, and a metric's mean over each. Pure.
//
// A unit is a run of whole tokens: a token belongs to the unit that its first letter lies in. White space goes with what is before it.

/** @import { JoinedTexts, Segment } from "./model_types" */

export const GRANULARITIES = ["token", "word", "sentence", "segment"];

const WORDY = /[\p{L}\p{M}\p{N}_]/u;
/** Scripts that write without spaces: each letter is a word. */
const LONE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Signs that hold a word together where letters stand on both sides: "don't", "3.14", "well-known". */
const HINGE = /['’.,-]/;
const FULL_STOP = /[\n。！？.!?…]/g;
const CLOSING = /["'”’」』）)\]]/;
const SPACING = 0;
const SIGN = 1;
const WORD = 2;
const ALONE = 3;
/** @type {Map<number, number>} */
const classes = new Map();

/**
 * First tokens of the words; `text` is the whole and `starts` where in it each token starts. A token of only white space ends a word.
 * @param {JoinedTexts} joined
 * @returns {number[]}
 */
export function wordStarts({ text, starts }) {
  const firsts = [];
  for (let i = 0; i < starts.length; i += 1) {
    const at = firstSeen(text, starts[i], starts[i + 1] ?? text.length);
    if (i === 0 || (at >= 0 && !holds(text, at, starts[i]))) firsts.push(i);
  }
  return firsts;
}

/**
 * First tokens of the sentences. One ends at a line end, at 。！？, or at . ! ? … before white space, unless a small letter follows.
 * @param {JoinedTexts} joined
 * @returns {number[]}
 */
export function sentenceStarts({ text, starts }) {
  const firsts = [];
  const ends = sentenceEnds(text);
  let passed = 0;
  let last = -1;
  for (let i = 0; i < starts.length; i += 1) {
    const at = firstSeen(text, starts[i], starts[i + 1] ?? text.length);
    if (i > 0 && at < 0) continue;
    while (passed < ends.length && ends[passed] <= at) passed += 1;
    if (i === 0 || passed !== last) firsts.push(i);
    last = passed;
  }
  return firsts;
}

/**
 * Offset of the first letter or sign from `from` to before `stop`; -1 where all is white space.
 * @param {string} text
 * @param {number} from
 * @param {number} stop
 */
function firstSeen(text, from, stop) {
  for (let at = from; at < stop; at += 1) if (classAt(text, at) !== SPACING) return at;
  return -1;
}

/**
 * Whether the token whose first letter is at `at`, and which starts at `start`, goes on with the word before it.
 * @param {string} text
 * @param {number} at
 * @param {number} start
 */
function holds(text, at, start) {
  if (at !== start || at === 0) return false;
  const [before, here] = [classAt(text, at - 1), classAt(text, at)];
  if (before === SIGN && here === SIGN) return true;
  if (before === WORD && here === WORD) return true;
  if (before === WORD && here === SIGN) return HINGE.test(text[at]) && classAt(text, at + 1) === WORD;
  return before === SIGN && here === WORD && HINGE.test(text[at - 1]) && classAt(text, at - 2) === WORD;
}

/**
 * @param {string} text
 * @param {number} at
 */
function classAt(text, at) {
  if (at < 0 || at >= text.length) return SPACING;
  const code = /** @type {number} */ (text.codePointAt(at));
  const known = classes.get(code);
  if (known !== undefined) return known;
  const found = classOf(String.fromCodePoint(code));
  classes.set(code, found);
  return found;
}

/** @param {string} letter */
function classOf(letter) {
  if (/\s/.test(letter)) return SPACING;
  if (LONE.test(letter)) return ALONE;
  return WORDY.test(letter) ? WORD : SIGN;
}

/**
 * Offsets just behind the sentences, rising. Closing signs go with the sentence they close.
 * @param {string} text
 * @returns {number[]}
 */
function sentenceEnds(text) {
  const ends = [];
  FULL_STOP.lastIndex = 0;
  for (let found = FULL_STOP.exec(text); found !== null; found = FULL_STOP.exec(text)) {
    let stop = found.index + 1;
    if (found[0] === "\n") {
      ends.push(stop);
      continue;
    }
    while (stop < text.length && (CLOSING.test(text[stop]) || /[。！？.!?…]/.test(text[stop]))) stop += 1;
    const ideographic = /[。！？]/.test(found[0]);
    if (ideographic || endsHere(text, stop)) ends.push(stop);
    FULL_STOP.lastIndex = stop;
  }
  return ends;
}

/**
 * White space must follow, and no small letter after it: "e.g. so" goes on.
 * @param {string} text
 * @param {number} stop
 */
function endsHere(text, stop) {
  let next = stop;
  while (next < text.length && classAt(text, next) === SPACING) next += 1;
  return next > stop && !/\p{Ll}/u.test(text[next] ?? "");
}

/**
 * First tokens of the units between segments' ends; `segments` as of folding.js.
 * @param {Pick<Segment, "first" | "stop">[]} segments
 * @param {number} n
 */
export function segmentStarts(segments, n) {
  const edges = new Set([0]);
  for (const { first, stop } of segments) edges.add(first).add(stop);
  return [...edges].filter((edge) => edge < n).sort((one, other) => one - other);
}

/**
 * The mean of `values` over the tokens of each unit that count and are finite: {means, counts}; a unit without any counts 0, its mean NaN.
 * @param {Float32Array} values
 * @param {Uint8Array} kept
 * @param {number[]} starts
 */
export function unitMeans(values, kept, starts) {
  const means = new Float32Array(starts.length).fill(NaN);
  const counts = new Uint8Array(starts.length);
  for (let u = 0; u < starts.length; u += 1) {
    let [sum, seen] = [0, 0];
    for (let i = starts[u]; i < (starts[u + 1] ?? values.length); i += 1) {
      if (kept[i] === 0) continue;
      counts[u] = 1;
      if (!Number.isFinite(values[i])) continue;
      sum += values[i];
      seen += 1;
    }
    if (seen > 0) means[u] = sum / seen;
  }
  return { means, counts };
}

/**
 * One number per unit, spread over its tokens.
 * @param {Float32Array} perUnit
 * @param {number[]} starts
 * @param {number} n
 */
export function spread(perUnit, starts, n) {
  const out = new Float32Array(n);
  for (let u = 0; u < starts.length; u += 1) out.fill(perUnit[u], starts[u], starts[u + 1] ?? n);
  return out;
}
