import assert from "node:assert/strict";
import { test } from "node:test";
import { changeText, exact, extent, rangeText, short, whole } from "../../../board/ui/components/token_view/format.js";

const NUMBERS = [
  // value, three digits, exact float32
  [0, "0", "0"],
  [-0, "0", "0"],
  [0.1, "0.100", "0.1"],
  [-2.3125, "−2.31", "−2.3125"],
  [1 / 3, "0.333", "0.33333334"],
  [999.4, "999", "999.4"],
  [12345, "12345", "12345"],
  [99949, "99949", "99949"],
  [99950, "1.00e5", "99950"],
  [123456789, "1.23e8", "123456790"],
  [0.000123, "1.23e−4", "0.000123"],
  [-1e-30, "−1.00e−30", "−1e−30"],
  [NaN, "—", "—"],
  [Infinity, "∞", "∞"],
  [-Infinity, "−∞", "−∞"],
];

for (const [value, three, full] of NUMBERS) {
  test(`${value} reads ${three}, exactly ${full}`, () => {
    assert.equal(short(Math.fround(value)), three);
    assert.equal(exact(Math.fround(value)), full);
  });
}

test("the exact form of any float32 reads back as that float32", () => {
  const bits = new Uint32Array(1);
  const float = new Float32Array(bits.buffer);
  for (let i = 0; i < 20_000; i += 1) {
    bits[0] = Math.imul(i + 1, 2654435761);
    if (!Number.isFinite(float[0])) continue;
    assert.equal(Math.fround(Number(exact(float[0]).replaceAll("−", "-"))), float[0]);
  }
});

test("what is not zero never reads as zero", () => {
  for (let power = -45; power < 38; power += 1) assert.doesNotMatch(short(Math.fround(1.5 * 10 ** power)), /^0(\.0*)?$/);
});

test("a range says where values go beyond its ends", () => {
  assert.equal(rangeText({ lo: 0, hi: 2, min: 0, max: 2, finite: 3 }), "0 – 2.00");
  assert.equal(rangeText({ lo: -1, hi: 1, min: -4, max: 9, finite: 3 }), "≤−1.00 – ≥1.00");
  assert.equal(rangeText({ lo: -2, hi: 2, min: -9, max: 1, finite: 3 }, true), "0 – ≥2.00");
  assert.equal(rangeText({ lo: 2, hi: 2, min: 2, max: 2, finite: 3 }), "2.00");
  assert.equal(rangeText({ lo: NaN, hi: NaN, min: NaN, max: NaN, finite: 0 }), "no number");
});

test("a window names its tokens from 1, a whole response only its length", () => {
  assert.equal(extent(2000, 2000, 33000), "tokens 2,001–4,000 of 33,000");
  assert.equal(extent(0, 212, 212), "212 tokens");
  assert.equal(extent(0, 1, 1), "1 token");
});

test("thousands are separated", () => {
  assert.deepEqual([7, 1234, 1234567].map(whole), ["7", "1,234", "1,234,567"]);
});

for (const [value, from, wanted] of [
  [1.5, 1, "+0.500"],
  [1, 3, "−2.00"],
  [2, 2, "="],
  [Infinity, Infinity, "="],
  [NaN, 1, ""],
  [1, NaN, ""],
  [Infinity, 1, "+∞"],
  [0, -0, "="],
]) {
  test(`${value} differs from ${from} by "${wanted}"`, () => assert.equal(changeText(value, from), wanted));
}
