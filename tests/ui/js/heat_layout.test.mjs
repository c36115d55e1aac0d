import assert from "node:assert/strict";
import { test } from "node:test";
import { axisLabels, CELL, cellsOf, tokenColumns } from "../../../board/ui/components/token_view/heat_layout.js";

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

const widthOf = (position) => 6.2 * String(position).replace(/\B(?=(\d{3})+$)/g, ",").length;
const axis = (from, count, n, start, width) => axisLabels({ from, count }, n, start, width, widthOf);
const positions = (...view) => axis(...view).map(({ position }) => position);

test("the axis has round positions with room between them, and the first where there is room", () => {
  assert.deepEqual(positions(0, 100, 100, 0, 1000), [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  assert.deepEqual(positions(0, 2000, 2000, 0, 1000), [1, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000]);
  assert.deepEqual(positions(0, 2000, 2000, 2000, 400), [2001, 2500, 3000, 3500, 4000]);
  assert.deepEqual(positions(0, 3, 3, 0, 900), [1, 2, 3]);
  assert.deepEqual(positions(300, 12, 5000, 0, 500), [302, 304, 306, 308, 310, 312]);
});

test("numbers of the axis never touch nor leave the row, however many tokens there are", () => {
  for (const n of [1, 7, 1000, 128_000, 128_001, 1_000_000]) {
    for (const start of [0, 1_000_000, 127_999_000]) {
      for (const width of [180, 640, 930, 1111]) {
        for (const share of [0, 0.123, 0.5, 0.77]) {
          const count = Math.max(Math.min(4, n), n * (1 - share));
          const labels = axis((n - count) * share, count, n, start, width);
          assert.ok(labels.length > 0, `${n} ${start} ${width} ${share}`);
          labels.forEach(({ left, position }, i) => {
            const before = labels[i - 1];
            assert.ok(left >= 0 && left + widthOf(position) <= width + 1e-6);
            if (before)
              assert.ok(before.left + widthOf(before.position) + 8 <= left + 1e-6, `${n} ${start} ${width} ${share} ${position}`);
          });
        }
      }
    }
  }
});
