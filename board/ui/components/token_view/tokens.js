// The tokens as they arrived: one run of UTF-8 bytes and where each token ends. Pure; a token becomes a string only when it is asked for.

/** @import { Match, Texts } from "./model_types" */
/** @import { ArrowColumn, Meta } from "./payload_types" */

const LINE_FEED = 0x0a;
const WIDE = 0xe3;
const SAMPLE = 4096;

/**
 * The tokens of an Arrow text column; `odd` holds, by position and as JSON, those that Arrow could not carry. No column: no tokens.
 * @param {Pick<ArrowColumn<unknown>, "data"> | null} column
 * @param {Pick<Meta, "n" | "odd">} given
 * @returns {Texts}
 */
export function tokenTexts(column, { n, odd }) {
  const { values: bytes, valueOffsets: ends } =
    n === 0 || column === null ? { values: new Uint8Array(0), valueOffsets: [0] } : column.data[0];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** @param {number} i */
  const at = (i) => {
    if (i in odd) return JSON.parse(odd[i]);
    return ascii(bytes, ends[i], ends[i + 1]) ?? decoder.decode(bytes.subarray(ends[i], ends[i + 1]));
  };
  let share = null;
  return {
    n,
    at,
    endsLine: (i) => endsLine(bytes, ends[i], ends[i + 1]),
    startsWord: (i) => startsWord(bytes, ends[i], ends[i + 1]),
    mayExtend: (i) => i in odd || mayExtend(bytes, ends[i], ends[i + 1]),
    anyOdd: Object.keys(odd).length > 0,
    hasByte: (byte) => bytes.indexOf(byte, ends[0]) >= 0,
    lines(first, stop, perLine) {
      share ??= columnsPerByte(bytes.subarray(ends[0], ends[n]));
      return linesOf(bytes, ends[first], ends[stop], perLine, share);
    },
  };
}

/**
 * First tokens of the pieces the text is laid out in. Each ends at the first line end after `least` tokens; where there is none within
 * `most`, before a word, and the next piece goes on in the same line. `folds` are [first, stop] of folded segments, in order: each is one.
 * @param {Pick<Texts, "n" | "endsLine" | "startsWord">} texts
 * @param {number} least
 * @param {number} most
 * @param {Match[]} [folds]
 * @returns {number[]}
 */
export function chunkStarts(texts, least, most, folds = []) {
  const starts = [];
  let fold = 0;
  for (let first = 0; first < texts.n; ) {
    starts.push(first);
    while (fold < folds.length && folds[fold][1] <= first) fold += 1;
    const [from, stop] = folds[fold] ?? [texts.n, texts.n];
    first = from <= first ? stop : chunkStop(texts, first, least, most, from);
  }
  return starts;
}

/**
 * @param {Pick<Texts, "n" | "endsLine" | "startsWord">} texts
 * @param {number} first
 * @param {number} least
 * @param {number} most
 * @param {number} wall
 */
function chunkStop(texts, first, least, most, wall) {
  const end = Math.min(wall, first + most);
  for (let i = first + least - 1; i < end; i += 1) if (texts.endsLine(i)) return i + 1;
  if (end === wall) return end;
  for (let i = end; i > first + least; i -= 1) if (texts.startsWord(i)) return i;
  return end;
}

/**
 * Index of the last start that is not beyond `i`.
 * @param {ArrayLike<number>} starts
 * @param {number} i
 */
export function chunkOf(starts, i) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= i) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Most tokens are a few ASCII letters; a decoder call costs several times as much as reading those.
 * @param {Uint8Array} bytes
 * @param {number} first
 * @param {number} stop
 * @returns {string | null}
 */
function ascii(bytes, first, stop) {
  if (stop - first > 24) return null;
  let text = "";
  for (let i = first; i < stop; i += 1) {
    if (bytes[i] > 0x7f) return null;
    text += String.fromCharCode(bytes[i]);
  }
  return text;
}

/**
 * A line feed at the end, in the letters of byte-level names ("Ċ") or of sentencepiece ("<0x0A>") too.
 * @param {Uint8Array} bytes
 * @param {number} first
 * @param {number} stop
 */
function endsLine(bytes, first, stop) {
  const last = bytes[stop - 1];
  if (stop === first) return false;
  return (
    last === LINE_FEED ||
    (last === 0x8a && bytes[stop - 2] === 0xc4) ||
    (last === 0x3e && stop - first === 6 && bytes[stop - 2] === 0x41 && bytes[stop - 3] === 0x30 && bytes[stop - 5] === 0x30)
  );
}

/**
 * Whether a token may go on with a character of the one before: a letter beyond ASCII that is no name of a space, or a byte by name.
 * @param {Uint8Array} bytes
 * @param {number} first
 * @param {number} stop
 */
function mayExtend(bytes, first, stop) {
  if (stop === first) return false;
  if (bytes[first] < 0x80)
    return stop - first === 6 && bytes[first] === 0x3c && bytes[first + 1] === 0x30 && bytes[first + 2] === 0x78;
  return !startsWord(bytes, first, stop);
}

/**
 * A space at the start, in the letters of byte-level names ("Ġ") or of sentencepiece ("▁") too.
 * @param {Uint8Array} bytes
 * @param {number} first
 * @param {number} stop
 */
function startsWord(bytes, first, stop) {
  if (stop === first) return false;
  return (
    bytes[first] === 0x20 ||
    (bytes[first] === 0xc4 && bytes[first + 1] === 0xa0) ||
    (bytes[first] === 0xe2 && bytes[first + 1] === 0x96 && bytes[first + 2] === 0x81)
  );
}

/**
 * About how many lines of `perLine` letters the bytes fill, where a byte is `share` of a letter. Looks only for line feeds, which a browser
 * does at the speed of memory: the loop over all bytes of a long response was felt.
 * @param {Uint8Array} bytes
 * @param {number} first
 * @param {number} stop
 * @param {number} perLine
 * @param {number} share
 */
function linesOf(bytes, first, stop, perLine, share) {
  let lines = 0;
  for (let from = first; from < stop; ) {
    const found = bytes.indexOf(LINE_FEED, from);
    const end = found < 0 || found >= stop ? stop : found;
    lines += Math.ceil(((end - from) * share) / perLine);
    if (end < stop && end === from) lines += 1;
    from = end + 1;
  }
  return lines;
}

/**
 * Columns that a byte takes, by a sample; East Asian letters take two.
 * @param {Uint8Array} bytes
 */
function columnsPerByte(bytes) {
  const stride = Math.max(1, Math.floor(bytes.length / SAMPLE));
  let [seen, columns] = [0, 0];
  for (let i = 0; i < bytes.length; i += stride) {
    const byte = bytes[i];
    seen += 1;
    if (byte < 0x80) columns += 1;
    else if (byte >= 0xc0) columns += byte >= WIDE ? 2 : 1;
  }
  return seen === 0 ? 1 : columns / seen;
}
