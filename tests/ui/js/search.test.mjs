import assert from "node:assert/strict";
import { test } from "node:test";
import {
  extremesOf,
  joinedTexts,
  loudnessOf,
  matchesOf,
  matchFrom,
  matchMarks,
  stepAlong,
} from "../../../board/ui/components/token_view/search.js";

const HIGH = { scale: "sequential", loud: "high", lo: 0, hi: 1 };

test("loudness is the distance from the quiet end, beyond the loud end too", () => {
  const counts = Uint8Array.from([1, 1, 1, 1, 0]);
  const loudness = (meta, values) => [...loudnessOf({ ...meta, values: Float32Array.from(values) }, counts)];
  assert.deepEqual(loudness(HIGH, [0.5, 80, NaN, Infinity, 9]), [0.5, 80, -1, Infinity, -1]);
  assert.deepEqual(loudness({ ...HIGH, loud: "low", lo: -4, hi: 0 }, [-1, -50, 0, NaN, 0]), [1, 50, 0, -1, -1]);
  assert.deepEqual(loudness({ ...HIGH, scale: "diverging" }, [-3, 2, 0, NaN, 1]), [3, 2, 0, -1, -1]);
});

test("the extremes are the loudest hundredth, in order; quiet tokens are none", () => {
  assert.deepEqual(extremesOf(Float32Array.from([0, 3, -1, 0, 1])), [1, 4]);
  const long = Float32Array.from({ length: 10_000 }, (_, i) => (i * 7919) % 10_007);
  const found = extremesOf(long);
  assert.equal(found.length, 100);
  const least = Math.min(...found.map((i) => long[i]));
  assert.equal(long.filter((size) => size > least).length, 99);
  assert.deepEqual(
    found,
    [...found].sort((a, b) => a - b),
  );
  assert.deepEqual(extremesOf(Float32Array.from([0, -1])), []);
});

test("of a short response one token in ten is extreme", () => {
  assert.equal(extremesOf(Float32Array.from({ length: 64 }, (_, i) => i + 1)).length, 7);
  assert.equal(extremesOf(Float32Array.from({ length: 21 }, (_, i) => i + 1)).length, 3);
});

test("one spike among equals is the extreme", () => {
  assert.deepEqual(extremesOf(Float32Array.from({ length: 5000 }, (_, i) => (i === 77 ? 9 : 1))), [77]);
});

test("stepping goes round at the ends", () => {
  const at = [2, 5, 9];
  assert.deepEqual(
    [
      [null, 1],
      [2, 1],
      [9, 1],
      [null, -1],
      [5, -1],
      [0, -1],
    ].map(([from, way]) => stepAlong(at, from, way)),
    [2, 5, 2, 9, 2, 9],
  );
  assert.equal(stepAlong([], 3, 1), null);
});

const tokens = ["The", " c", "at", "", " sat.", " The", " CAT"];
const text = joinedTexts(tokens.length, (i) => tokens[i]);

test("a search finds text across tokens and says which tokens hold it", () => {
  assert.deepEqual(matchesOf(text, "cat"), [
    [1, 2],
    [6, 6],
  ]);
  assert.deepEqual(matchesOf(text, "CAT"), [[6, 6]]);
  assert.deepEqual(matchesOf(text, "t sat."), [[2, 4]]);
  assert.deepEqual([matchesOf(text, ""), matchesOf(text, "a.t"), matchesOf(text, "(")], [[], [], []]);
});

test("tokens of matches are marked, the current one apart", () => {
  assert.deepEqual(
    [
      ...matchMarks(
        7,
        [
          [1, 2],
          [6, 6],
        ],
        1,
      ),
    ],
    [0, 1, 1, 0, 0, 0, 2],
  );
  assert.deepEqual(
    [
      matchFrom(
        [
          [1, 2],
          [6, 6],
        ],
        3,
      ),
      matchFrom([[1, 2]], 3),
      matchFrom([], 0),
    ],
    [1, 0, -1],
  );
});
