// Words, sentences and segments as stretches of tokens, and a metric's mean over each. Pure.
//
// A unit is a run of whole tokens: a token belongs to the unit that its first letter (of what is not white space) lies in.

export const GRANULARITIES = ["token", "word", "sentence", "segment"];

/** A word with its inner marks ("don't", "3.14"), one letter of a script that writes without spaces, or a run of signs. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{M}\p{N}_])+(?:['’.,\-](?=[\p{L}\p{N}])(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{M}\p{N}_])+)*|[^\s\p{L}\p{M}\p{N}_]+/gu;
/** What ends a sentence: a line end; 。！？; or . ! ? … before white space, unless a small letter follows ("e.g. so"). Closing signs go with it. */
const SENTENCE_END = /\n+|[。！？]+["'”’」』）)\]]*|[.!?…]+["'”’)\]]*(?=\s)(?!\s+\p{Ll})/gu;

/** Offsets in `text` where words or sentences begin, rising; the first is 0 where there is any text. */
export function unitOffsets(text, granularity) {
  const offsets = [];
  if (granularity === "word") for (const match of text.matchAll(WORD)) offsets.push(match.index);
  else for (const match of text.matchAll(SENTENCE_END)) offsets.push(match.index + match[0].length);
  return offsets[0] === 0 ? offsets : [0, ...offsets];
}

/** First tokens of the units: `whole` is the text and where in it each token starts ({text, starts}), `offsets` where units begin. */
export function unitStarts({ text, starts }, offsets) {
  const firsts = [];
  let unit = 0;
  let last = -1;
  for (let i = 0; i < starts.length; i += 1) {
    const stop = starts[i + 1] ?? text.length;
    let at = starts[i];
    while (at < stop - 1 && isBlank(text.charCodeAt(at))) at += 1;
    // A token of nothing but white space ends the unit before it; the line feed itself belongs to the sentence it ends.
    while (unit + 1 < offsets.length && offsets[unit + 1] <= at) unit += 1;
    if (unit === last || (isBlank(text.charCodeAt(at)) && i > 0)) continue;
    firsts.push(i);
    last = unit;
  }
  return firsts.length > 0 && firsts[0] !== 0 ? [0, ...firsts.slice(1)] : firsts;
}

/** First tokens of the units between segments' ends; `stretches` as of folding.js. */
export function segmentStarts(stretches, n) {
  const edges = new Set([0]);
  for (const { first, stop } of stretches) edges.add(first).add(stop);
  return [...edges].filter((edge) => edge < n).sort((one, other) => one - other);
}

/** The mean of `values` over the tokens of each unit that count and are finite: {means, counts}; a unit without any counts 0, its mean NaN. */
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

/** One number per unit, spread over its tokens. */
export function spread(perUnit, starts, n) {
  const out = new Float32Array(n);
  for (let u = 0; u < starts.length; u += 1) out.fill(perUnit[u], starts[u], starts[u + 1] ?? n);
  return out;
}

function isBlank(code) {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0 || code === 0x3000;
}
