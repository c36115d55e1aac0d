import assert from "node:assert/strict";
import { test } from "node:test";
import { axisNumbers, axisOf, envelopeOf, extentOf, runsOf } from "../../../board/ui/components/token_view/chart_layout.js";
import { cellsOf } from "../../../board/ui/components/token_view/heat_layout.js";

const cellsFor = (values, counts = new Uint8Array(values.length).fill(1)) => cellsOf(values, Uint8Array.from(counts));

test("every pixel has the least and the greatest of its tokens", () => {
  const values = Float32Array.from([1, 5, 2, -3, 0, 0]);
  const { low, high } = envelopeOf(values, cellsFor(values), 0, 0.5, 4);
  assert.deepEqual([...low], [1, -3, 0, NaN]);
  assert.deepEqual([...high], [5, 2, 0, NaN]);
});

test("no spike is lost at any width", () => {
  for (const n of [1000, 128_000]) {
    const values = new Float32Array(n).fill(0.1);
    const cells = cellsFor(values);
    for (const spike of [0, Math.floor(n / 3), n - 1]) {
      values[spike] = 80;
      for (const width of [37, 640, 930]) assert.ok(envelopeOf(values, cells, 0, width / n, width).high.includes(80));
      values[spike] = 0.1;
    }
  }
});

test("masked, missing and infinite tokens are no part of the line", () => {
  const values = Float32Array.from([1, NaN, 2, 99, Infinity, 3, 4]);
  const cells = cellsFor(values, [1, 1, 1, 0, 1, 1, 1]);
  assert.deepEqual(runsOf(cells, 0, 6), [
    [0, 0],
    [2, 2],
    [5, 6],
  ]);
  assert.deepEqual(runsOf(cells, 3, 5), [[5, 5]]);
  assert.deepEqual(extentOf(values, cells, 0, 6), [1, 4]);
  assert.equal(extentOf(values, cells, 3, 4), null);
  assert.deepEqual([...envelopeOf(values, cells, 0, 1 / 7, 1).high], [4]);
});

const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} ${other}`);

test("the axis starts at zero where zero is near, and holds it where the metric diverges", () => {
  const ends = ({ lo, hi }) => [lo, hi];
  assert.deepEqual(ends(axisOf([1, 5], { diverging: false, log: false })), [0, 5]);
  assert.deepEqual(ends(axisOf([100, 101], { diverging: false, log: false })), [100, 101]);
  assert.deepEqual(ends(axisOf([3, 4], { diverging: true, log: false })), [0, 4]);
  const axis = axisOf([-1, 3], { diverging: true, log: false });
  for (const [value, at] of [
    [-1, 0],
    [0, 0.25],
    [3, 1],
  ])
    near(axis.at(value), at);
  assert.equal(axisOf([0, 0], { diverging: true, log: false }).at(0), 0.5);
});

test("a logarithmic axis lifts small numbers, keeps order and ends", () => {
  const axis = axisOf([0, 100], { diverging: false, log: true });
  near(axis.at(0), 0);
  near(axis.at(100), 1);
  assert.ok(axis.at(1) > 0.3 && axis.at(1) < axis.at(10));
});

test("the ends are numbered, and zero between them where it does not touch them", () => {
  const values = (extent) => axisNumbers(axisOf(extent, { diverging: true, log: false }), 0.2).map(({ value }) => value);
  assert.deepEqual(values([-1, 1]), [1, 0, -1]);
  assert.deepEqual(values([-0.1, 1]), [1, -0.1]);
  assert.deepEqual(values([0, 2]), [2, 0]);
  assert.deepEqual(values([0, 0]), [0]);
});
