import assert from "node:assert/strict";
import { test } from "node:test";
import {
  barOf,
  nth,
  placeOn,
  placesOf,
  STEPS,
  scaleOf,
  scaleOfColumns,
  stepOf,
  valueAt,
} from "../../../board/ui/components/token_view/scale.js";

const SEQUENTIAL = { scale: "sequential", loud: "high", range: null };
const scale = (values, meta = {}, counts = values.map(() => 1)) =>
  scaleOf(Float32Array.from(values), Uint8Array.from(counts), { ...SEQUENTIAL, ...meta });
const ends = ({ lo, hi }) => [lo, hi];

const COLOR_RANGES = [
  ["small values start at zero", [0.5, 1, 2], {}, [0, 2]],
  ["values far from zero keep their own range", [100, 101, 102], {}, [100, 102]],
  ["log-probabilities end at zero", [-4, -0.5, -0.25], { loud: "low" }, [-4, 0]],
  ["a diverging scale is symmetric", [-1, 3], { scale: "diverging" }, [-3, 3]],
  ["a constant has one number", [2, 2], {}, [2, 2]],
  ["a range from the server is kept", [0.2, 0.4], { range: [0, 1] }, [0, 1]],
  ["a diverging range from the server is made symmetric", [0.2], { scale: "diverging", range: [-1, 4] }, [-4, 4]],
];

for (const [name, values, meta, wanted] of COLOR_RANGES) test(name, () => assert.deepEqual(ends(scale(values, meta)), wanted));

test("missing, infinite and masked tokens do not shape the scale", () => {
  const { lo, hi, min, max, finite } = scale([1, NaN, Infinity, -50, 2], {}, [1, 1, 1, 0, 1]);
  assert.deepEqual([lo, hi, min, max, finite], [0, 2, 1, 2, 2]);
});

test("one spike among a thousand does not flatten the rest, and its size is kept", () => {
  const values = Array.from({ length: 1000 }, (_, i) => (i === 500 ? 80 : i / 1000));
  const { hi, max } = scale(values);
  assert.ok(hi < 1);
  assert.equal(max, 80);
});

test("a few tokens are never clipped", () => {
  assert.equal(scale([0, 0, 0, 0, 7]).hi, 7);
});

test("a metric that is almost always zero still shows its few values", () => {
  const values = Array.from({ length: 2000 }, (_, i) => (i === 3 ? 1 : 0));
  assert.deepEqual(ends(scale(values)), [0, 1]);
  assert.deepEqual(ends(scale(values, { scale: "diverging" })), [-1, 1]);
});

test("places run from quiet to loud and stop at the ends", () => {
  const high = scale([0, 10]);
  assert.deepEqual(
    [-5, 0, 5, 10, 99].map((v) => placeOn(high, v)),
    [0, 0, 0.5, 1, 1],
  );
  const low = scale([-10, 0], { loud: "low" });
  assert.deepEqual(
    [0, -5, -10, -99].map((v) => placeOn(low, v)),
    [0, 0.5, 1, 1],
  );
  const diverging = scale([-10, 5], { scale: "diverging" });
  assert.deepEqual(
    [-99, -10, 0, 5].map((v) => placeOn(diverging, v)),
    [-1, -1, 0, 0.5],
  );
});

test("missing has no place, infinities lie at the ends", () => {
  const diverging = scale([-1, 1], { scale: "diverging" });
  assert.deepEqual(
    [NaN, Infinity, -Infinity].map((v) => placeOn(diverging, v)),
    [NaN, 1, -1],
  );
  assert.equal(placeOn(scale([NaN]), 3), NaN);
});

test("a constant is quiet, and all zeros are quiet", () => {
  assert.equal(placeOn(scale([2, 2]), 2), 0);
  assert.equal(placeOn(scale([0, 0], { scale: "diverging" }), 0), 0);
});

test("the places of an array are those of its values", () => {
  const values = Float32Array.from([-2, NaN, 0, 1]);
  const diverging = scale([-2, 1], { scale: "diverging" });
  assert.deepEqual(
    [...placesOf(diverging, values)],
    [...values].map((v) => placeOn(diverging, v)),
  );
});

test("the value at a place lies at that place", () => {
  for (const made of [scale([0, 3]), scale([-4, 0], { loud: "low" }), scale([-1, 2], { scale: "diverging" })]) {
    for (const at of [0, 0.25, 0.5, 1]) assert.equal(placeOn(made, valueAt(made, at)), at);
  }
});

test("steps and underlines grow with the place, equally on both sides of zero", () => {
  assert.deepEqual([0, 0.5, 1].map(stepOf), [0, STEPS / 2, STEPS - 1]);
  assert.deepEqual([-0.5, -1].map(stepOf), [-STEPS / 2, 1 - STEPS]);
  assert.equal(stepOf(NaN), null);
  assert.deepEqual([NaN, 0, 0.25, -0.5, 0.75, -1].map(barOf), [0, 0, 1, 2, 3, 3]);
});

test("the number at a place among the sorted is found without sorting", () => {
  const numbers = Float32Array.from({ length: 501 }, (_, i) => ((i * 7919) % 251) - 60);
  const sorted = [...numbers].sort((a, b) => a - b);
  for (const k of [0, 1, 5, 250, 499, 500]) assert.equal(nth(numbers.slice(), k), sorted[k]);
});

const chosen = (values, choice, meta = {}) =>
  scaleOf(Float32Array.from(values), new Uint8Array(values.length).fill(1), { ...SEQUENTIAL, ...meta }, choice);

test("the full range goes to the extremes, a fixed one where it is told, whatever the server said", () => {
  const values = Array.from({ length: 1000 }, (_, i) => (i === 500 ? 80 : i / 1000));
  assert.deepEqual(ends(chosen(values, { kind: "full", ends: null })), [0, 80]);
  assert.deepEqual(ends(chosen([0.2, 0.4], { kind: "fixed", ends: [0.5, 2] }, { range: [0, 1] })), [0.5, 2]);
  assert.deepEqual(ends(chosen([3], { kind: "hold", ends: [-1, 2] }, { scale: "diverging" })), [-2, 2]);
});

test("a log scale tells small numbers apart, keeps order, sign and ends, and its legend agrees", () => {
  const log = chosen([0, 0.01, 1, 100], { kind: "log", ends: null });
  const at = [0, 0.01, 1, 100].map((value) => placeOn(log, value));
  assert.deepEqual([at[0], at[3]], [0, 1]);
  assert.ok(at[1] > 0.005 && at[2] > 0.3 && at[2] < 0.6);
  for (const share of [0, 0.25, 0.5, 1]) assert.ok(Math.abs(placeOn(log, valueAt(log, share)) - share) < 1e-9);
  const both = chosen([-100, 1], { kind: "log", ends: null }, { scale: "diverging" });
  assert.ok(placeOn(both, -1) < -0.3 && placeOn(both, -1) === -placeOn(both, 1));
});

test("columns that each show the loudest of many tokens are told apart by their own quantiles", () => {
  const values = Float32Array.from({ length: 100_000 }, (_, i) => (i % 100 === 0 ? 1 + (i / 100_000) * 9 : 0.01));
  const all = scaleOf(values, new Uint8Array(values.length).fill(1), SEQUENTIAL);
  const columns = Int32Array.from({ length: 500 }, (_, x) => (x === 499 ? -1 : x * 200));
  const drawn = scaleOfColumns(all, values, columns);
  const shades = (scale) =>
    new Set([...columns].filter((token) => token >= 0).map((token) => stepOf(placeOn(scale, values[token])))).size;
  assert.ok(shades(drawn) > STEPS / 2 && shades(drawn) > shades(all));
  assert.ok(drawn.lo > 1 && drawn.min < drawn.lo && drawn.hi < drawn.max);
  const signed = scaleOfColumns({ ...all, scale: "diverging" }, values, columns);
  assert.equal(signed.lo, -signed.hi);
  const none = Int32Array.from([-1, -1]);
  assert.equal(scaleOfColumns(all, values, none), all);
});
