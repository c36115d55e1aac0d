import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, spell, textOf } from "../../../board/ui/components/token_view/bytes.js";
import { clustered } from "../../../board/ui/components/token_view/clusters.js";
import { tokenTexts } from "../../../board/ui/components/token_view/tokens.js";

const column = (tokens) => {
  const parts = tokens.map((token) => Buffer.from(token));
  const valueOffsets = Int32Array.from([0, ...parts.map((_, i) => Buffer.concat(parts.slice(0, i + 1)).length)]);
  return { data: [{ values: Uint8Array.from(Buffer.concat(parts)), valueOffsets }] };
};
const textsOf = (tokens) => tokenTexts(column(tokens), { n: tokens.length, odd: {} });
const plain = (tokens) => {
  const texts = textsOf(tokens);
  return tokens.map((_, i) => clustered((t) => [{ text: texts.at(t) }], texts, i));
};
const part = (glyph, at, parts) => ({ glyph, part: at, parts });

test("an emoji family spelled by several tokens is one glyph, shared", () => {
  const family = "👩\u200d👧\u200d👦";
  assert.deepEqual(plain(["a", "👩", "\u200d", "👧\u200d", "👦", " b"]), [
    [{ text: "a" }],
    [part(family, 0, 4)],
    [part(family, 1, 4)],
    [part(family, 2, 4)],
    [part(family, 3, 4)],
    [{ text: " b" }],
  ]);
});

test("a letter keeps its accent, a thumb its colour, a flag its halves", () => {
  assert.deepEqual(plain(["cafe", "\u0301s"]), [
    [{ text: "caf" }, part("e\u0301", 0, 2)],
    [part("e\u0301", 1, 2), { text: "s" }],
  ]);
  assert.deepEqual(plain(["👍", "🏽"]), [[part("👍🏽", 0, 2)], [part("👍🏽", 1, 2)]]);
  assert.deepEqual(plain(["🇩", "🇪"]), [[part("🇩🇪", 0, 2)], [part("🇩🇪", 1, 2)]]);
});

test("of a token that holds whole letters and the start of one, only that one is shared", () => {
  const names = ["Ġcatæ", "Ĺ¥", "æĹ¥æ", "ľ¬", "ĠðŁĺ", "Ģ"];
  const texts = textsOf(names);
  const bytes = (i) => bytesOf("byte-level", texts.at(i));
  const drawn = names.map((_, i) => clustered((t) => spell(bytes, texts.n, t), texts, i));
  assert.deepEqual(drawn, [
    [{ text: " cat" }, part("日", 0, 2)],
    [part("日", 1, 2)],
    [{ text: "日" }, part("本", 0, 2)],
    [part("本", 1, 2)],
    [{ text: " " }, part("😀", 0, 2)],
    [part("😀", 1, 2)],
  ]);
});

test("letters that stand by themselves stay with their tokens", () => {
  assert.deepEqual(
    plain(["今", "日", "👩", "👧", "", "é"]).map((units) => units.map(({ text }) => text)),
    [["今"], ["日"], ["👩"], ["👧"], [""], ["é"]],
  );
});

test("bytes, characters and clusters at once: a family over the bytes of its parts", () => {
  const family = "👩\u200d👧";
  const names = [...Buffer.from(family)].map((byte) => `<0x${byte.toString(16).toUpperCase()}>`);
  const tokens = ["▁x", ...names, "▁y"];
  const texts = textsOf(tokens);
  const bytes = (i) => bytesOf("sentencepiece", texts.at(i));
  const units = tokens.map((_, i) => clustered((t) => spell(bytes, texts.n, t), texts, i));
  assert.deepEqual(units[1], [part(family, 0, 11)]);
  assert.deepEqual(units[11], [part(family, 10, 11)]);
  assert.equal(units.map(textOf).join(""), ` x${family} y`);
});
