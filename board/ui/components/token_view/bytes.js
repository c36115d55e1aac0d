// Tokens drawn from their bytes without a tokenizer: byte-level BPE names ("Ġthe", "Ċ"), sentencepiece names ("▁the", "<0xE4>"). Pure.
//
// A rollout is taken to be encoded only when all its tokens fit the alphabet and several bear its marks: text that holds one Ġ is text.

/** @import { Codec, Texts, Unit } from "./model_types" */

const SPACE = 0x20;
const BYTE_NAME = /^<0x([0-9A-Fa-f]{2})>$/;
const SPECIAL = /^<[|\uff5c].*[|\uff5c]>$/u;
const MARKS_WANTED = 2;
/** A character has at most four bytes, so it reaches at most three tokens further. */
const REACH = 3;

const BYTE_OF = byteLevelAlphabet();
const utf8 = new TextEncoder();

/**
 * How the tokens name their bytes: "byte-level", "sentencepiece", or "plain" when they are the text itself. `texts` as of tokens.js.
 * @param {Texts} texts
 * @returns {Codec}
 */
export function codecOf(texts) {
  if (texts.n === 0 || texts.anyOdd || texts.hasByte(SPACE)) return "plain";
  return isByteLevel(texts) ? "byte-level" : isSentencepiece(texts) ? "sentencepiece" : "plain";
}

/**
 * The bytes that a token stands for.
 * @param {Codec} codec
 * @param {string} name
 */
export function bytesOf(codec, name) {
  if (codec === "plain" || SPECIAL.test(name)) return utf8.encode(name);
  if (codec === "byte-level") return Uint8Array.from(name, (letter) => BYTE_OF.get(letter) ?? 0x3f);
  const byte = BYTE_NAME.exec(name);
  return byte ? Uint8Array.of(parseInt(byte[1], 16)) : utf8.encode(name.replaceAll("\u2581", " "));
}

/**
 * One name as text, without neighbours: an alternative to a token, say. What does not read as text is left as it stands.
 * @param {Codec} codec
 * @param {string} name
 */
export function decoded(codec, name) {
  if (codec === "plain" || (codec === "byte-level" && ![...name].every((letter) => BYTE_OF.has(letter)))) return name;
  const units = spell(() => bytesOf(codec, name), 1, 0);
  return units.some(({ bad }) => bad !== undefined) ? name : textOf(units);
}

/**
 * What is drawn of token `i` of `n`, as a list of {text}, {glyph, part, parts} for a character shared by several tokens (this token has
 * the `part`-th share, from 0), and {bad} for a byte that belongs to no character. `bytes(i)` gives the bytes of a token.
 * @param {(i: number) => Uint8Array} bytes
 * @param {number} n
 * @param {number} i
 * @returns {Unit[]}
 */
export function spell(bytes, n, i) {
  const own = bytes(i);
  if (own.every((byte) => byte < 0x80)) return own.length ? [{ text: String.fromCharCode(...own) }] : [];
  /** @type {[byte: number, token: number][]} */
  const stream = [];
  for (let t = Math.max(0, i - REACH); t <= Math.min(n - 1, i + REACH); t += 1)
    for (const byte of bytes(t)) stream.push([byte, t]);
  /** @type {Unit[]} */
  const found = [];
  for (let at = 0; at < stream.length; ) {
    const length = characterAt(stream, at);
    const owners = [...new Set(stream.slice(at, at + Math.max(1, length)).map(([, owner]) => owner))];
    if (owners.includes(i)) add(found, stream, at, length, owners, i);
    at += Math.max(1, length);
  }
  return found;
}

/**
 * The text of what `spell` found; a shared character counts for the first of its tokens, so that the whole response reads once.
 * @param {Unit[]} units
 */
export function textOf(units) {
  return units.map(({ text, glyph, part }) => text ?? (glyph === undefined ? "\ufffd" : part === 0 ? glyph : "")).join("");
}

/**
 * Bytes as "E4 BB 8A".
 * @param {ArrayLike<number>} bytes
 */
export function hex(bytes) {
  return Array.from(bytes, hexByte).join(" ");
}

/**
 * A byte that belongs to no character, as "\xE4".
 * @param {number} byte
 */
export function badByte(byte) {
  return `\\x${hexByte(byte)}`;
}

/**
 * @param {Unit[]} found
 * @param {[byte: number, token: number][]} stream
 * @param {number} at
 * @param {number} length
 * @param {number[]} owners
 * @param {number} i
 */
function add(found, stream, at, length, owners, i) {
  if (length === 0) {
    found.push({ bad: stream[at][0] });
    return;
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    Uint8Array.from(stream.slice(at, at + length), ([byte]) => byte),
  );
  const last = found[found.length - 1];
  if (owners.length > 1) found.push({ glyph: text, part: owners.indexOf(i), parts: owners.length });
  else if (last?.text !== undefined) last.text += text;
  else found.push({ text });
}

/**
 * Bytes of the well-formed character that starts here (Unicode, table 3-7); 0 where none does.
 * @param {[byte: number, token: number][]} stream
 * @param {number} at
 */
function characterAt(stream, at) {
  const lead = stream[at][0];
  if (lead < 0x80) return 1;
  const length = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > stream.length) return 0;
  const least = { 0xe0: 0xa0, 0xf0: 0x90 }[lead] ?? 0x80;
  const most = { 0xed: 0x9f, 0xf4: 0x8f }[lead] ?? 0xbf;
  if (stream[at + 1][0] < least || stream[at + 1][0] > most) return 0;
  for (let k = 2; k < length; k += 1) if ((stream[at + k][0] & 0xc0) !== 0x80) return 0;
  return length;
}

/** @param {Texts} texts */
function isByteLevel(texts) {
  let marks = 0;
  for (let i = 0; i < texts.n; i += 1) {
    const name = texts.at(i);
    if (SPECIAL.test(name)) continue;
    for (const letter of name) if (!BYTE_OF.has(letter)) return false;
    if (/[\u0120\u010a]/.test(name)) marks += 1;
  }
  return marks >= MARKS_WANTED || readsAsCharacters(texts);
}

/**
 * Without a space or a line end (Chinese, say), the bytes must make whole characters of several bytes, and no broken one but at the ends.
 * @param {Texts} texts
 */
function readsAsCharacters(texts) {
  /** @type {[byte: number, token: number][]} */
  const stream = [];
  for (let i = 0; i < texts.n; i += 1) for (const byte of bytesOf("byte-level", texts.at(i))) stream.push([byte, i]);
  let many = 0;
  for (let at = 0; at < stream.length; ) {
    const length = characterAt(stream, at);
    if (length === 0 && at > REACH && at < stream.length - REACH) return false;
    if (length > 1) many += 1;
    at += Math.max(1, length);
  }
  return many >= MARKS_WANTED;
}

/** @param {Texts} texts */
function isSentencepiece(texts) {
  let marks = 0;
  for (let i = 0; i < texts.n; i += 1) {
    const name = texts.at(i);
    if (name.startsWith("\u2581") || BYTE_NAME.test(name)) marks += 1;
  }
  return marks >= MARKS_WANTED;
}

/**
 * GPT-2's letters for bytes: printable Latin-1 stands for itself, the rest for the letters from U+0100 on, in order.
 * @returns {Map<string, number>}
 */
function byteLevelAlphabet() {
  const letters = new Map();
  let next = 0x100;
  for (let byte = 0; byte < 0x100; byte += 1) {
    const itself = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    letters.set(String.fromCodePoint(itself ? byte : next), byte);
    if (!itself) next += 1;
  }
  return letters;
}

/** @param {number} byte */
function hexByte(byte) {
  return byte.toString(16).toUpperCase().padStart(2, "0");
}
