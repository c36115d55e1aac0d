import assert from "node:assert/strict";
import { test } from "node:test";
import { dotsOf, orderBy } from "../../../board/ui/components/scatter/dots.js";
import { gridOf } from "../../../board/ui/components/scatter/nearby.js";
import { byShade } from "../../../board/ui/components/scatter/paint.js";
import { numberAt, pixelsOf, placeAt, planeOf, ticksOf } from "../../../board/ui/components/scatter/plane.js";
import { stamped } from "../../../board/ui/components/scatter/stamp.js";

const axis = (low, high, log = false) => ({ label: "x", low, high, log });

/** Numbers that are the same in every run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function sentOf(meta, ...columns) {
  return {
    meta,
    numbers: { numRows: columns[0].length, getChildAt: (at) => ({ toArray: () => Float32Array.from(columns[at]) }) },
  };
}

test("the dot nearest to the pointer is the one that the slow way finds", () => {
  const random = randomNumbers(3);
  const plane = planeOf(700, 430, ["0.5", "1,000"]);
  const size = 3000;
  const numbers = () => Float32Array.from({ length: size }, random);
  const dots = { x: numbers(), y: numbers(), color: numbers(), counts: null, size };
  const nearest = gridOf(dots, plane);
  for (let round = 0; round < 300; round += 1) {
    const [x, y] = [random() * 740 - 20, random() * 470 - 20];
    let [best, least] = [null, 12 * 12];
    for (let at = 0; at < size; at += 1) {
      const [right, below] = pixelsOf(plane, [dots.x[at], dots.y[at]]);
      const apart = (right - x) ** 2 + (below - y) ** 2;
      if (apart <= least) [best, least] = [at, apart];
    }
    assert.equal(nearest(x, y, 12), best);
  }
});

test("dots at the very ends of the axes are found, and none is no dot", () => {
  const plane = planeOf(300, 200, []);
  const corners = {
    x: Float32Array.of(0, 1),
    y: Float32Array.of(0, 1),
    color: Float32Array.of(0, 0),
    counts: null,
    stacks: null,
    size: 2,
  };
  assert.equal(gridOf(corners, plane)(...pixelsOf(plane, [0, 0]), 5), 0);
  assert.equal(gridOf(corners, plane)(...pixelsOf(plane, [1, 1]), 5), 1);
  const none = {
    x: new Float32Array(0),
    y: new Float32Array(0),
    color: new Float32Array(0),
    counts: null,
    stacks: null,
    size: 0,
  };
  assert.equal(gridOf(none, plane)(50, 50, 12), null);
});

test("pixels lead back to the place, kept within the axes", () => {
  const plane = planeOf(500, 300, ["10"]);
  const [x, y] = placeAt(plane, ...pixelsOf(plane, [0.25, 0.75]));
  assert.ok(Math.abs(x - 0.25) < 1e-9 && Math.abs(y - 0.75) < 1e-9);
  assert.deepEqual(placeAt(plane, -100, 1000), [0, 0]);
});

test("a number comes back from its place as it was, not as a small float left it", () => {
  for (const [low, high, log, value] of [
    [-0.5, 1.5, false, 0],
    [-0.5, 1.5, false, 1],
    [12, 3012, false, 312],
    [-3, 5, true, 100],
  ]) {
    const place = Math.fround(((log ? Math.log10(value) : value) - low) / (high - low));
    assert.ok(Math.abs(numberAt(axis(low, high, log), place) - value) <= Math.abs(value) * 1e-4);
    if (!log) assert.equal(numberAt(axis(low, high, log), place), value);
  }
});

test("ticks stand on round numbers within the axis", () => {
  assert.deepEqual(
    ticksOf(axis(-0.1, 1.1), 4).map(({ text }) => text),
    ["0", "0.5", "1"],
  );
  const decades = ticksOf(axis(-1, 3, true), 6);
  assert.ok(decades.some(({ text, at }) => text === "10" && Math.abs(at - 0.5) < 1e-9));
  assert.ok(ticksOf(axis(-1.7e308, 1.7e308), 5).every(({ at }) => at >= 0 && at <= 1));
});

test("of a density the cells that hold any are drawn, in their middle", () => {
  const meta = { kind: "density", columns: 2, rows: 2 };
  const dots = dotsOf(sentOf(meta, [0, 3, 1, 0], [NaN, 0.5, NaN, NaN]));
  assert.deepEqual([...dots.x], [0.75, 0.25]);
  assert.deepEqual([...dots.y], [0.25, 0.75]);
  assert.deepEqual([...dots.counts], [3, 1]);
  assert.deepEqual([...dots.color], [0.5, NaN]);
});

test("points at one place are one dot, with the mean of their third number", () => {
  const dots = dotsOf(sentOf({ kind: "points" }, [0.5, 0.25, 0.5, 0.5, 0.25], [0.5, 0.5, 0.5, 0.75, 0.25], [1, NaN, 3, 4, 5]));
  assert.deepEqual([...dots.x], [0.5, 0.25, 0.5, 0.25]);
  assert.deepEqual([...dots.counts], [2, 1, 1, 1]);
  assert.deepEqual([...dots.color], [2, NaN, 4, 5]);
  assert.deepEqual(dots.stacks, [[0, 2], [1], [3], [4]]);
});

test("points at very many places are drawn one by one", () => {
  const places = Array.from({ length: 3000 }, (_, at) => at / 3000);
  const dots = dotsOf(sentOf({ kind: "points" }, places, places, places));
  assert.equal(dots.size, 3000);
  assert.equal(dots.counts, null);
});

test("keys go along one coordinate, and along the other where that is the same", () => {
  assert.deepEqual([...orderBy(Float32Array.of(0.5, 0.1, 0.5), Float32Array.of(0.9, 0.2, 0.3))], [1, 2, 0]);
});

test("every dot has one shade; outliers have that of the end, and what has no number comes first", () => {
  const color = Float32Array.of(5, NaN, -100, 0, 100);
  const dots = { x: color, y: color, color, counts: null, size: 5 };
  const { order, firsts } = byShade(dots, { label: "", low: 0, high: 5 });
  assert.deepEqual([...order], [1, 2, 3, 0, 4]);
  assert.equal(firsts.at(-1), 5);
  assert.equal(firsts[1], 1);
  assert.deepEqual([...byShade(dots, null).order], [0, 1, 2, 3, 4]);
});

test("a square is laid over another, and what lies beyond the picture is left out", () => {
  const dots = {
    x: Float32Array.of(0.5, 0.5, 0),
    y: Float32Array.of(0.5, 0.5, 0),
    color: Float32Array.of(0, 0, 0),
    counts: null,
    size: 3,
  };
  const how = { width: 10, height: 10, scale: 1, side: 2, alpha: 0.5 };
  const pixels = stamped(dots, byShade(dots, null), ["#ff0000"], { left: 0, top: 0, width: 10, height: 10 }, how);
  const at = (x, y) => [...pixels.slice(4 * (10 * y + x), 4 * (10 * y + x) + 4)];
  assert.ok(Math.abs(at(5, 5)[3] - 255 * 0.75) < 1.5);
  assert.deepEqual(at(5, 5).slice(0, 3), [255, 0, 0]);
  assert.deepEqual(at(0, 9), [255, 0, 0, 128]);
  assert.deepEqual(at(8, 2), [0, 0, 0, 0]);
});
