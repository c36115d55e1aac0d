import assert from "node:assert/strict";
import { test } from "node:test";
import { foldingOf, foldText } from "../../../board/ui/components/token_view/folding.js";

const SEGMENTS = [
  [0, 7, 0, "think"],
  [2, 5, 1, "code py"],
  [7, 9, 0, "text"],
];
const ranges = (folding) => folding.folds().map(({ first, stop }) => [first, stop]);

test("nothing is folded at first; the innermost segment of a token folds, then what it lies in", () => {
  const folding = foldingOf(SEGMENTS);
  assert.deepEqual(ranges(folding), []);
  folding.toggle(folding.around(3));
  assert.deepEqual(ranges(folding), [[2, 5]]);
  folding.toggle(folding.around(1));
  assert.deepEqual(ranges(folding), [[0, 7]]);
  assert.equal(folding.hiding(3).label, "think");
  folding.toggle(folding.around(3));
  assert.deepEqual(ranges(folding), [[2, 5]]);
});

test("a jump opens all that hides a token, and a step passes what is folded", () => {
  const folding = foldingOf(SEGMENTS);
  folding.toggleAll();
  assert.deepEqual(ranges(folding), [
    [0, 7],
    [7, 9],
  ]);
  assert.deepEqual([folding.past(3, 1), folding.past(8, 1), folding.past(8, -1), folding.past(9, 1)], [7, 9, 6, 9]);
  folding.open(3);
  assert.deepEqual(ranges(folding), [[7, 9]]);
  folding.toggleAll();
  assert.deepEqual(ranges(folding), []);
});

test("a folded segment says how long it is and what KL it holds, of tokens that count", () => {
  const kl = { values: Float32Array.of(1, NaN, 2, 50, 0.2) };
  assert.equal(foldText({ first: 0, stop: 4, label: "think" }, Uint8Array.of(1, 1, 1, 0, 1), kl), "think · 4 tokens · Σ kl 3.00");
  assert.equal(foldText({ first: 0, stop: 1, label: "code" }, Uint8Array.of(1), null), "code · 1 token");
  assert.equal(foldText({ first: 3, stop: 4, label: "tool" }, Uint8Array.of(1, 1, 1, 0, 1), kl), "tool · 1 token");
});
