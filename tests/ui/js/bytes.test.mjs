import assert from "node:assert/strict";
import { test } from "node:test";
import { badByte, bytesOf, codecOf, decoded, hex, spell, textOf } from "../../../board/ui/components/token_view/bytes.js";

const LETTERS = [];
for (let byte = 0, next = 256; byte < 256; byte += 1) {
  const itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  LETTERS.push(String.fromCodePoint(itself ? byte : next));
  if (!itself) next += 1;
}
/** Byte-level names of a text cut after these numbers of bytes. */
const bpe = (text, ...cuts) => {
  const bytes = Buffer.from(text);
  const ends = [...cuts, bytes.length];
  return ends.map((end, i) => [...bytes.subarray(ends[i - 1] ?? 0, end)].map((byte) => LETTERS[byte]).join(""));
};
const texts = (tokens, anyOdd = false) => ({
  n: tokens.length,
  at: (i) => tokens[i],
  anyOdd,
  hasByte: (byte) => tokens.some((t) => Buffer.from(t).includes(byte)),
});
const units = (codec, tokens) => tokens.map((_, i) => spell((t) => bytesOf(codec, tokens[t]), tokens.length, i));
const read = (codec, tokens) => units(codec, tokens).map(textOf).join("");

const CODECS = [
  ["byte-level names", ["The", "Ġcat", "Ġsat", ".", "Ċ"], "byte-level"],
  ["byte-level Chinese without a space", bpe("今日は良い天気", 2, 5, 9), "byte-level"],
  ["byte-level with a special token outside the alphabet", ["Ġa", "Ġb", "<｜end▁of▁sentence｜>"], "byte-level"],
  ["sentencepiece", ["▁The", "▁cat", "<0x0A>"], "sentencepiece"],
  ["sentencepiece with letters of many scripts", ["▁今日", "は", "▁Ġ"], "sentencepiece"],
  ["plain text", ["The", " cat", "\n"], "plain"],
  ["plain text that speaks of Ġ and ▁", ["What", " is", " Ġ", "the", "?", " ▁", "a", "Ċ", "Ġthe"], "plain"],
  ["a lone Ġ without any space", ["a", "Ġ", "b"], "plain"],
  ["a lone ▁ without any space", ["a", "▁", "b"], "plain"],
  ["French without a space", ["caf", "é", "déjà"], "plain"],
  ["ASCII without a space", ["a", "b"], "plain"],
  ["Chinese as it is", ["今日", "は"], "plain"],
  ["nothing", [], "plain"],
];
for (const [name, tokens, wanted] of CODECS) test(`${name}: ${wanted}`, () => assert.equal(codecOf(texts(tokens)), wanted));

test("tokens that no text can hold are taken as they are", () => assert.equal(codecOf(texts(["Ġa", "Ġb"], true)), "plain"));

test("every byte has its letter", () => {
  assert.deepEqual([...bytesOf("byte-level", LETTERS.join(""))], [...Array(256).keys()]);
  assert.equal(hex(bytesOf("byte-level", "ĠaĊ")), "20 61 0A");
});

test("sentencepiece names give spaces, bytes and text", () => {
  assert.deepEqual(
    ["▁the", "<0xE4>", "▁▁", "<0x>", "é"].map((name) => hex(bytesOf("sentencepiece", name))),
    ["20 74 68 65", "E4", "20 20", "3C 30 78 3E", "C3 A9"],
  );
});

test("special tokens are their own text", () =>
  assert.equal(read("byte-level", ["<|im_end|>", "<｜end▁of▁sentence｜>"]), "<|im_end|><｜end▁of▁sentence｜>"));

for (const text of ["今日は", "a👩‍🔬b", "naïve é", "\u202eabc", "日\n本", "👍🏽👨‍👩‍👧", "\ufeffx"]) {
  test(`${JSON.stringify(text)} is whole however its bytes are cut`, () => {
    const size = Buffer.from(text).length;
    const everyByte = Array.from({ length: size - 1 }, (_, i) => i + 1);
    assert.equal(read("byte-level", bpe(text, ...everyByte)), text);
    for (let cut = 1; cut < size; cut += 1) assert.equal(read("byte-level", bpe(text, cut)), text);
  });
}

test("a character over three tokens is one glyph with three shares", () => {
  assert.deepEqual(
    units("sentencepiece", ["<0xE4>", "<0xBB>", "<0x8A>"]),
    [0, 1, 2].map((part) => [{ glyph: "今", part, parts: 3 }]),
  );
});

test("a token may hold the end of one character and the start of the next", () => {
  const [first, middle, last] = units("byte-level", bpe("x今日y", 2, 6));
  assert.deepEqual(first, [{ text: "x" }, { glyph: "今", part: 0, parts: 2 }]);
  assert.deepEqual(middle, [
    { glyph: "今", part: 1, parts: 2 },
    { glyph: "日", part: 0, parts: 2 },
  ]);
  assert.deepEqual(last, [{ glyph: "日", part: 1, parts: 2 }, { text: "y" }]);
});

const bytesAt = (...groups) => groups.map((_, i) => spell((t) => Uint8Array.from(groups[t]), groups.length, i));
const BAD = [
  ["a lead byte at the end", [[0xe4]], [[{ bad: 0xe4 }]]],
  ["a lead byte before a letter", [[0xe4, 0x61]], [[{ bad: 0xe4 }, { text: "a" }]]],
  ["continuation bytes alone", [[0x80], [0xbf]], [[{ bad: 0x80 }], [{ bad: 0xbf }]]],
  ["an overlong slash", [[0xc0, 0xaf]], [[{ bad: 0xc0 }, { bad: 0xaf }]]],
  ["half of a surrogate pair", [[0xed, 0xa0, 0x80]], [[{ bad: 0xed }, { bad: 0xa0 }, { bad: 0x80 }]]],
  ["beyond Unicode", [[0xf4, 0x90, 0x80, 0x80]], [[{ bad: 0xf4 }, { bad: 0x90 }, { bad: 0x80 }, { bad: 0x80 }]]],
  ["nothing at all", [[]], [[]]],
];
for (const [name, groups, wanted] of BAD)
  test(`${name} is shown byte by byte`, () => assert.deepEqual(bytesAt(...groups), wanted));

test("a broken byte reads \\xE4 and counts as one letter", () => {
  assert.equal(badByte(0xe4), "\\xE4");
  assert.equal(textOf([{ text: "a" }, { bad: 0xe4 }]), "a\ufffd");
});

test("a name alone is read where it can be", () => {
  assert.deepEqual(
    ["Ġcat", " cat", "今", "ä", ""].map((name) => decoded("byte-level", name)),
    [" cat", " cat", "今", "ä", ""],
  );
  assert.deepEqual(
    ["▁the", "<0x0A>", "<0xE4>", "<|end|>"].map((name) => decoded("sentencepiece", name)),
    [" the", "\n", "<0xE4>", "<|end|>"],
  );
  assert.equal(decoded("plain", "Ġcat"), "Ġcat");
});
