import assert from "node:assert/strict";
import { test } from "node:test";
import { CELL, cellsOf, pixelsPerToken, ticksOf, tokenColumns } from "../../board/token_view/heat_layout.js";

const columns = (places, offset, scale, width) => {
  const values = Float32Array.from(places);
  return [...tokenColumns(values, cellsOf(values, new Uint8Array(values.length).fill(1)), offset, scale, width)];
};

test("cells tell numbers, missing, infinite and masked apart", () => {
  const cells = cellsOf(Float32Array.from([0, NaN, Infinity, -Infinity, 5]), Uint8Array.from([1, 1, 1, 1, 0]));
  assert.deepEqual([...cells], [CELL.number, CELL.missing, CELL.infinite, CELL.infinite, CELL.masked]);
});

test("a wide token fills its pixels, and the row ends with the last token", () => {
  assert.deepEqual(columns([0.1, 0.2], 0, 3, 8), [0, 0, 0, 1, 1, 1, -1, -1]);
});

test("a scrolled row starts inside its token", () => {
  assert.deepEqual(columns([0.1, 0.2, 0.3], 4, 3, 4), [1, 1, 2, 2]);
});

test("where tokens share a pixel the loudest is drawn, and missing gives way to numbers", () => {
  assert.deepEqual(columns([0, -0.9, 0.5, 0, NaN, 0.1], 0, 0.5, 3), [1, 2, 5]);
});

test("no spike is lost at any width", () => {
  for (const n of [100, 2000, 33333]) {
    for (const width of [37, 640, 1111]) {
      for (const spike of [0, 1, Math.floor(n / 3), n - 1]) {
        const places = new Float32Array(n).fill(0.1);
        places[spike] = 1;
        assert.ok(columns(places, 0, width / n, width).includes(spike), `${n} ${width} ${spike}`);
      }
    }
  }
});

test("a row never gets narrower than its room nor closer than the limit", () => {
  assert.equal(pixelsPerToken(2000, 1000, 1, 28), 0.5);
  assert.equal(pixelsPerToken(2000, 1000, 4, 28), 2);
  assert.equal(pixelsPerToken(2000, 1000, 999, 28), 28);
  assert.equal(pixelsPerToken(10, 1000, 8, 28), 100);
  assert.equal(pixelsPerToken(0, 1000, 1, 28), 1);
});

test("ticks are round positions with room between them", () => {
  assert.deepEqual(ticksOf(1, 100, 10, 72), [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  assert.deepEqual(ticksOf(1, 2000, 0.5, 72), [1, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000]);
  assert.deepEqual(ticksOf(2001, 4000, 0.2, 72), [2001, 2500, 3000, 3500, 4000]);
  assert.deepEqual(ticksOf(1, 3, 300, 72), [1, 2, 3]);
});
