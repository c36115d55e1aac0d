import assert from "node:assert/strict";
import { test } from "node:test";
import {
  betweenTokens,
  fitZoomRange,
  panZoomRange,
  readZoomRange,
  scaleZoomRange,
  showsToken,
  tokensOfZoomRange,
  wholeZoomRange,
  zoomRangeName,
  zoomRangeWith,
} from "../../../board/ui/components/token_view/zoom_range.js";

test("a zoom range stays inside the response and never closes", () => {
  assert.deepEqual(fitZoomRange(100, { from: -5, count: 20 }), { from: 0, count: 20 });
  assert.deepEqual(fitZoomRange(100, { from: 95, count: 20 }), { from: 80, count: 20 });
  assert.deepEqual(fitZoomRange(100, { from: 50, count: 0.1 }), { from: 50, count: 4 });
  assert.deepEqual(fitZoomRange(100, { from: 3, count: 900 }), { from: 0, count: 100 });
  assert.deepEqual(fitZoomRange(2, { from: 1, count: 1 }), { from: 0, count: 2 });
});

test("zooming keeps the place it is around, moving keeps the length", () => {
  const close = scaleZoomRange(1000, wholeZoomRange(1000), 4, 600);
  assert.deepEqual(close, { from: 450, count: 250 });
  assert.equal((600 - close.from) / close.count, 600 / 1000);
  assert.deepEqual(scaleZoomRange(1000, close, 0.5, 600), { from: 300, count: 500 });
  assert.deepEqual(scaleZoomRange(1000, close, 0, 600), wholeZoomRange(1000));
  assert.deepEqual(panZoomRange(1000, close, 0.5), { from: 575, count: 250 });
  assert.deepEqual(panZoomRange(1000, close, -9), { from: 0, count: 250 });
});

test("a brush takes both its ends, in either direction", () => {
  assert.deepEqual(betweenTokens(100, 30, 20), { from: 20, count: 11 });
  assert.deepEqual(tokensOfZoomRange(100, betweenTokens(100, 20, 30)), [20, 30]);
});

test("a token out of view is brought to the middle, one in view moves nothing", () => {
  const here = { from: 20, count: 10 };
  assert.equal(zoomRangeWith(100, here, 29), here);
  assert.deepEqual(zoomRangeWith(100, here, 30), { from: 25.5, count: 10 });
  assert.deepEqual(zoomRangeWith(100, here, 0), { from: 0, count: 10 });
  assert.deepEqual(
    [19, 20, 29, 30].map((index) => showsToken(here, index)),
    [false, true, true, false],
  );
});

test("a name says tokens of the whole response, and is read back the same", () => {
  assert.equal(zoomRangeName(100, { from: 20, count: 11 }, 1000), "1020-1030");
  assert.deepEqual(readZoomRange(100, "1020-1030", 1000), { from: 20, count: 11 });
  assert.equal(zoomRangeName(100, wholeZoomRange(100), 1000), "all");
  assert.deepEqual(readZoomRange(100, "all", 1000), wholeZoomRange(100));
  assert.equal(zoomRangeName(0, wholeZoomRange(0), 0), "all");
  assert.deepEqual(readZoomRange(100, "1090-1200", 1000), { from: 90, count: 10 });
  for (const n of [4, 7, 100]) {
    for (let first = 0; first + 4 <= n; first += 3) {
      for (let last = first + 3; last < n; last += 2) {
        const name = zoomRangeName(n, readZoomRange(n, `${first}-${last}`, 0), 0);
        assert.equal(name, last - first + 1 === n ? "all" : `${first}-${last}`);
      }
    }
  }
});

for (const name of ["", null, undefined, "5", "9-5", "-3-5", "a-b", "5-9-11", "0-99", "2000-3000", "1e3-2e3"]) {
  test(`"${name}" opens nothing`, () => assert.equal(readZoomRange(100, name, 1000), null));
}
