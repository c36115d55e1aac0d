import assert from "node:assert/strict";
import { test } from "node:test";
import {
  colorRangeFor,
  colorRangeName,
  colorRangeOf,
  mirror,
  readColorRange,
  sourceOf,
} from "../../../board/ui/components/token_view/color_ranges.js";

for (const name of ["q", "step", "run", "full", "log", "fixed:-1:1", "hold:0:2.5", "fixed:-1e-7:2"]) {
  test(`${name} is read and written the same`, () => assert.equal(colorRangeName(readColorRange(name)), name));
}

for (const name of ["", "nonsense", "fixed", "fixed:1", "fixed:a:b", "fixed:2:1", "hold:NaN:1", "fixed:0:Infinity"]) {
  test(`"${name}" is no range, so the quantiles are taken`, () =>
    assert.deepEqual(readColorRange(name), { kind: "q", ends: null }));
}

test("ends are rounded for the link, and only kinds that have ends keep them", () => {
  assert.deepEqual(colorRangeOf("hold", [0, 2.58123456789]).ends, [0, 2.58123]);
  assert.deepEqual(colorRangeOf("log", [0, 1]), { kind: "log", ends: null });
});

test("one end of a symmetric scale takes the other along, narrower or wider", () => {
  assert.deepEqual(mirror([-1, 6], [-6, 6]), [-1, 1]);
  assert.deepEqual(mirror([-6, 1], [-6, 6]), [-1, 1]);
  assert.deepEqual(mirror([-6, 9], [-6, 6]), [-9, 9]);
});

const TOLD = { scope: "step", where: "step 7", ends: { kl: [0, 3] }, rollouts: 8, total: 8 };
const Q = { kind: "q", ends: null };

test("the step's range has the ends that were sharedEnds of the step, and is the quantile range until then", () => {
  assert.deepEqual(colorRangeFor({ kind: "step", ends: null }, "kl", undefined, TOLD), { kind: "step", ends: [0, 3] });
  assert.deepEqual(colorRangeFor({ kind: "step", ends: null }, "value", undefined, TOLD), Q);
  assert.deepEqual(colorRangeFor({ kind: "run", ends: null }, "kl", undefined, TOLD), Q);
  assert.deepEqual(colorRangeFor({ kind: "step", ends: null }, "kl", undefined, undefined), Q);
});

test("a fixed range is that of the metric it was given for, the others need no ends", () => {
  assert.deepEqual(colorRangeFor({ kind: "fixed", ends: [0, 1] }, "kl", [0, 1], null), { kind: "fixed", ends: [0, 1] });
  assert.deepEqual(colorRangeFor({ kind: "fixed", ends: [0, 1] }, "value", undefined, null), Q);
  assert.deepEqual(colorRangeFor({ kind: "log", ends: null }, "kl", undefined, TOLD), { kind: "log", ends: null });
});

const KL = { name: "kl", scale: "sequential" };
const SOURCES = [
  ["q", KL, TOLD, ""],
  ["q", { name: "value", scale: "diverging" }, null, "symmetric around 0"],
  ["step", KL, TOLD, "step 7: 8 rollouts"],
  ["step", KL, { ...TOLD, total: 1, rollouts: 1 }, "step 7: 1 rollout"],
  ["step", { name: "gap", scale: "diverging" }, { ...TOLD, ends: { gap: [-1, 1] } }, "step 7: 8 rollouts · symmetric around 0"],
  ["step", { name: "gone", scale: "sequential" }, TOLD, "the step has no number of it"],
  ["run", KL, TOLD, "being worked out"],
  [
    "run",
    KL,
    { ...TOLD, scope: "run", where: "the run", rollouts: 2000, total: 40000 },
    "the run: 2,000 of 40,000 rollouts, drawn at random",
  ],
];
for (const [kind, metric, sharedEnds, words] of SOURCES) {
  test(`the ${kind} range of ${metric.name} says "${words}"`, () =>
    assert.equal(sourceOf({ kind, ends: null }, metric, sharedEnds), words));
}
