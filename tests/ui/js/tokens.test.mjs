import assert from "node:assert/strict";
import { test } from "node:test";
import { chunkOf, chunkStarts, tokenTexts } from "../../../board/ui/components/token_view/tokens.js";

const column = (tokens) => {
  const parts = tokens.map((token) => Buffer.from(token));
  const valueOffsets = Int32Array.from([0, ...parts.map((_, i) => Buffer.concat(parts.slice(0, i + 1)).length)]);
  return { data: [{ values: Uint8Array.from(Buffer.concat(parts)), valueOffsets }] };
};
const texts = (tokens, odd = {}) => tokenTexts(column(tokens), { n: tokens.length, odd });

test("each token is the text it was, whatever its letters and length", () => {
  const tokens = ["", " the", "今日", "\ufeffx", "👩‍🔬", "x".repeat(300), "é\n", "\0"];
  assert.deepEqual(
    tokens.map((_, i) => texts(tokens).at(i)),
    tokens,
  );
  assert.equal(texts(["a", "", "b"], { 1: '"\\ud83d"' }).at(1), "\ud83d");
});

test("a token ends a line only by a line feed at its end", () => {
  const tokens = ["\n", "a\n", "\na", "", "a"];
  assert.deepEqual(
    tokens.map((_, i) => texts(tokens).endsLine(i)),
    [true, true, false, false, false],
  );
});

test("chunks end at line ends, or at their most where there is none", () => {
  assert.deepEqual(chunkStarts(texts(["a", "b\n", "c", "d", "e\n", "f"]), 2, 9), [0, 2, 5]);
  assert.deepEqual(chunkStarts(texts(["a", "b", "c", "d", "e"]), 1, 2), [0, 2, 4]);
  assert.deepEqual(chunkStarts(texts(["a", "b", "c", " d", "e", "f"]), 1, 5), [0, 3]);
  assert.deepEqual(chunkStarts(texts(["a", "b", "c", "d", "e\n", "f"]), 1, 9, [[1, 3]]), [0, 1, 3, 5]);
  assert.deepEqual(chunkStarts(texts([]), 2, 9), []);
});

test("every token lies in the chunk that starts last before it", () => {
  assert.deepEqual(
    [0, 1, 2, 4, 5, 99].map((i) => chunkOf([0, 2, 5], i)),
    [0, 0, 1, 1, 2, 2],
  );
});

test("lines are estimated from letters, wide ones twice, and line feeds", () => {
  assert.equal(texts(["abcd", "efgh"]).lines(0, 2, 4), 2);
  assert.equal(texts(["今日", "は"]).lines(0, 2, 4), 2);
  assert.equal(texts(["a\n", "\n", "b"]).lines(0, 3, 4), 3);
});
