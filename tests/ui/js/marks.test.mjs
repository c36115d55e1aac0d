import assert from "node:assert/strict";
import { test } from "node:test";
import { codePoints, isPlain, literal, pieces } from "../../../board/ui/components/token_view/marks.js";

/** Text stays text, a mark reads [mark] followed by the character the layout keeps. */
const drawn = (token) =>
  pieces(token)
    .map((piece) => piece.text ?? `[${piece.mark}]${piece.raw}`)
    .join("");

const CASES = [
  ["a word", " the", " the"],
  ["a line end after text", ".\n\n", ".[↵]\n[↵]\n"],
  ["a tab", "\tif", "[→]\tif"],
  ["a lone space", " ", "[·] "],
  ["several lone spaces", "   ", "[·] [·] [·] "],
  ["a Windows line end", "\r\n", "[CR][↵]\n"],
  ["control characters", "\0\x1b\x7f\x85", "[NUL][ESC][DEL][NEL]"],
  ["a zero width space", "a\u200bb", "a[ZWSP]b"],
  ["a right-to-left override is not let loose", "\u202egpj.exe", "[RLO]gpj.exe"],
  ["isolates", "\u2066x\u2069", "[LRI]x[PDI]"],
  ["a byte order mark", "\ufeff", "[BOM]"],
  ["a no-break space", "10\u00a0km", "10[NBSP]km"],
  ["tag characters that smuggle text", "\u{e0041}", "[U+E0041]"],
  ["half of a character", "\ud83d", "[U+D83D]"],
  ["private use", "\ue000", "[U+E000]"],
  ["nothing", "", "[∅]"],
  ["an emoji family stays whole", "👩‍👩‍👧", "👩‍👩‍👧"],
  ["an emoji with its variation selector stays whole", "❤️", "❤️"],
  ["a keycap stays whole", "1️⃣", "1️⃣"],
  ["a lone joiner is seen", "\u200d", "[ZWJ]"],
  ["a joiner after a space is seen", "a \u200db", "a [ZWJ]b"],
  ["a Persian half space stays", "می‌خواهم", "می‌خواهم"],
  ["a combining accent stays on its letter", "e\u0301", "e\u0301"],
  ["Chinese stays", "今日", "今日"],
  ["markup is text", "<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
];

for (const [name, token, wanted] of CASES) test(name, () => assert.equal(drawn(token), wanted));

test("every token that counts as plain has no mark", () => {
  for (const [, token] of CASES) if (isPlain(token)) assert.equal(drawn(token), token);
  assert.equal(isPlain(" the"), true);
  assert.equal(isPlain(" "), false);
});

test("the literal is JSON of the same token, with every hidden character escaped", () => {
  for (const [, token] of CASES) {
    assert.equal(JSON.parse(literal(token)), token);
    assert.doesNotMatch(literal(token), /[\p{Cc}\u200b\u202a-\u202e\u2066-\u2069\ufeff\u00a0\u{e0041}]/u);
  }
  assert.equal(literal('say "hi"\\\n'), '"say \\"hi\\"\\\\\\n"');
});

test("hidden characters are named by code point, each once", () => {
  assert.deepEqual(codePoints("a\u200b\u200b\u202e"), ["U+200B zero width space", "U+202E right-to-left override"]);
  assert.deepEqual(codePoints(" "), ["U+0020 space"]);
  assert.deepEqual(codePoints("\ud83d"), ["U+D83D half of a character (lone surrogate)"]);
  assert.deepEqual(codePoints(" the"), []);
});
