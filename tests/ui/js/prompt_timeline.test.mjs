import assert from "node:assert/strict";
import { test } from "node:test";
import {
  alongVisits,
  ends,
  nearest,
  pixels,
  placed,
  reachOf,
  roomy,
  share,
  smoothed,
  withinVisit,
} from "../../../board/ui/components/prompt_timeline/layout.js";
import { scale } from "../../../board/ui/components/prompt_timeline/paint.js";

/** Two visits: at the first three points, two of them equal, at the second one. */
const POINTS = { visit: [0, 0, 0, 1], height: [1, 0, 1, 0.5], size: [1, NaN, 9, 4] };
const AT = new Float64Array([100, 200]);
const SCALE = pixels([0, 1], 100, 0);

test("a share is from 0 to 1, halfway of nothing, and missing of what is missing", () => {
  assert.deepEqual([share(-1, [0, 4]), share(1, [0, 4]), share(9, [0, 4]), share(3, [3, 3])], [0, 0.25, 1, 0.5]);
  assert.ok(Number.isNaN(share(NaN, [0, 1])) && Number.isNaN(share(1, null)));
  assert.equal(share(0, [-1.7e308, 1.7e308]), 0.5);
});

test("the ends are of the finite numbers alone, and an axis has room beyond them", () => {
  assert.deepEqual(ends([NaN, 2, -1, Infinity]), [-1, 2]);
  assert.equal(ends([NaN]), null);
  for (const between of [[0, 1], [3, 3], [0, 0], [-1.7e308, 1.7e308], null]) {
    const [low, high] = roomy(between);
    assert.ok(Number.isFinite(low) && Number.isFinite(high) && low < high);
    if (between) assert.ok(low <= between[0] && high >= between[1]);
  }
});

test("points stand at their visit, equal ones beside each other, larger ones larger", () => {
  const { x, y, radius } = placed(POINTS, AT, SCALE);
  assert.deepEqual([...y], [0, 100, 0, 50]);
  assert.equal(x[1], 100);
  assert.equal(x[3], 200);
  assert.ok(x[0] < 100 && x[2] > 100);
  assert.equal((x[0] + x[2]) / 2, 100);
  assert.ok(radius[0] < radius[3] && radius[3] < radius[2]);
});

test("lines of many visits are means of neighbours, what is missing left out", () => {
  assert.equal(reachOf(120), 0);
  assert.equal(reachOf(1000), 20);
  assert.deepEqual([...smoothed(new Float64Array([0, 3, NaN, 6, 0]), 1)], [1.5, 1.5, NaN, 3, 3]);
});

test("a crowd does not reach into the next visit", () => {
  const many = { visit: Array(500).fill(0).concat([1]), height: Array(501).fill(1), size: Array(501).fill(NaN) };
  const { x } = placed(many, new Float64Array([100, 110]), SCALE);
  assert.ok(Math.min(...x.slice(0, 500)) >= 100 - 4.3 && Math.max(...x.slice(0, 500)) <= 104.3);
});

test("the pointer means the nearest point within its reach", () => {
  const places = placed(POINTS, AT, SCALE);
  assert.equal(nearest(places, 198, 52, 20), 3);
  assert.equal(nearest(places, 101, 99, 20), 1);
  assert.equal(nearest(places, 150, 50, 20), null);
});

test("keys go along the visits by their highest point, and up and down within one", () => {
  assert.equal(alongVisits(POINTS, null, 1), 0);
  assert.equal(alongVisits(POINTS, null, -1), 3);
  assert.equal(alongVisits(POINTS, 1, 1), 3);
  assert.equal(alongVisits(POINTS, 3, 1), 3);
  assert.equal(alongVisits(POINTS, 3, -1), 0);
  assert.equal(alongVisits({ visit: [], height: [], size: [] }, null, 1), null);
  assert.deepEqual([withinVisit(POINTS, 1, 1), withinVisit(POINTS, 0, 1), withinVisit(POINTS, 2, 1)], [0, 2, 2]);
  assert.deepEqual([withinVisit(POINTS, 2, -1), withinVisit(POINTS, 1, -1), withinVisit(POINTS, 3, 1)], [0, 1, 3]);
});

test("the scale of colours goes from quiet to loud on a light page and on a dark one", () => {
  const grey = (color) =>
    color
      .match(/\d+/g)
      .slice(0, 3)
      .reduce((sum, one) => sum + Number(one), 0);
  for (const [background, further] of [
    [[255, 255, 255], -1],
    [[12, 17, 16], 1],
  ]) {
    const tones = [0, 0.5, 1].map(scale({ background })).map(grey);
    assert.ok((tones[1] - tones[0]) * further > 0 && (tones[2] - tones[1]) * further > 0, String(tones));
  }
});
