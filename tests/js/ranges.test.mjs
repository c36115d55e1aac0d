import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeName, rangeOf, readRange } from "../../board/token_view/ranges.js";

for (const name of ["q", "full", "log", "fixed:-1:1", "hold:0:2.5", "fixed:-1e-7:2"]) {
  test(`${name} is read and written the same`, () => assert.equal(rangeName(readRange(name)), name));
}

for (const name of ["", "nonsense", "fixed", "fixed:1", "fixed:a:b", "fixed:2:1", "hold:NaN:1", "fixed:0:Infinity"]) {
  test(`"${name}" is no range, so the quantiles are taken`, () => assert.deepEqual(readRange(name), { kind: "q", ends: null }));
}

test("ends are rounded for the link, and only kinds that have ends keep them", () => {
  assert.deepEqual(rangeOf("hold", [0, 2.58123456789]).ends, [0, 2.58123]);
  assert.deepEqual(rangeOf("log", [0, 1]), { kind: "log", ends: null });
});
