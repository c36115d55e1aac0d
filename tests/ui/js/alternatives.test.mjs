import assert from "node:assert/strict";
import { test } from "node:test";
import { alternativesOf } from "../../../board/ui/components/token_view/alternatives.js";

const column = (values) => ({ toArray: () => values });
const texts = (names) => {
  const bytes = names.map((name) => [...Buffer.from(name)]);
  const valueOffsets = Int32Array.from([0, ...bytes.map((_, i) => bytes.slice(0, i + 1).flat().length)]);
  return { data: [{ values: Uint8Array.from(bytes.flat()), valueOffsets }] };
};
const table = (...columns) => ({
  numRows: columns[0].data ? columns[0].data[0].valueOffsets.length - 1 : columns[0].toArray().length,
  getChildAt: (i) => columns[i],
});

test("each token has its own few, the sampled one marked", () => {
  const names = table(texts([" a", "<b>", "\ufeff"]), column(Float32Array.from([0, -1, -2])));
  const tokens = table(
    column(Int32Array.from([2, 2, 3])),
    column(Int32Array.from([9, 0, 1])),
    column(Int32Array.from([1, -1, 7])),
  );
  const read = alternativesOf(names, tokens);
  const first = read.at(0);
  assert.deepEqual([first.listed, first.sampled], [9, 1]);
  assert.deepEqual(
    first.likeliest.map(({ token, sampled }) => [token, sampled]),
    [
      [" a", false],
      ["<b>", true],
    ],
  );
  assert.deepEqual(
    first.likeliest.map(({ probability }) => Math.round(1000 * probability)),
    [1000, 368],
  );
  assert.deepEqual(read.at(1), { listed: 0, sampled: -1, likeliest: [] });
  assert.deepEqual(
    read.at(2).likeliest.map(({ token, sampled }) => [token, sampled]),
    [["\ufeff", false]],
  );
});

test("a row without the field has no reader, one with empty lists has nothing to read", () => {
  assert.equal(alternativesOf(undefined, undefined), null);
  const none = table(column(Int32Array.from([0])), column(Int32Array.from([0])), column(Int32Array.from([-1])));
  assert.deepEqual(alternativesOf(table(texts([]), column(new Float32Array(0))), none).at(0).likeliest, []);
});
