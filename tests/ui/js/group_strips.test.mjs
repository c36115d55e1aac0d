import assert from "node:assert/strict";
import { test } from "node:test";
import { binned, stacked } from "../../../board/ui/components/group_strips/group_strips.js";

const placedAt = (dots, tallest = dots.length) => stacked(binned(dots), tallest);
const dots = (x, count) => Array.from({ length: count }, (_, at) => ({ x, size: 1 - at / count }));

test("dots of one reward are stacked, the shortest on top, within the strip", () => {
  const placed = placedAt(dots(0.5, 4));
  assert.deepEqual(
    placed.map(({ size }) => size),
    [0.25, 0.5, 0.75, 1],
  );
  assert.deepEqual(
    placed.map(({ y }) => y),
    [6, 12, 18, 24],
  );
  assert.ok(placed.every(({ dx }) => dx === 0));
});

test("dots of rewards that differ do not move each other", () => {
  assert.deepEqual(
    placedAt([...dots(0, 1), ...dots(1, 1)]).map(({ y, dx }) => [y, Math.abs(dx)]),
    [
      [15, 0],
      [15, 0],
    ],
  );
});

for (const [x, low, high] of [
  [0, 0, 120],
  [0.5, -60, 60],
  [1, -120, 0],
]) {
  test(`a thousand dots at ${x} grow away from the nearer end`, () => {
    const moved = placedAt(dots(x, 1000)).map(({ dx }) => dx);
    assert.ok(Math.min(...moved) >= low && Math.max(...moved) <= high);
    assert.ok(Math.max(...moved) - Math.min(...moved) > 100);
  });
}

test("half as many dots as in the largest bin are half as wide", () => {
  const wide = (count) => Math.max(...placedAt(dots(0, count), 1000).map(({ dx }) => dx));
  assert.ok(Math.abs(wide(500) / wide(1000) - 0.5) < 0.01);
});
