import assert from "node:assert/strict";
import { test } from "node:test";
import { keptPlaces } from "../../../board/ui/components/curves/thinning.js";

/** Numbers that are the same in every run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomCurve(random, length) {
  let step = Math.floor(random() * 5) - 2;
  const steps = Float64Array.from({ length }, () => {
    step += 1 + (random() < 0.2 ? Math.floor(random() * 50) : 0);
    return step;
  });
  const gaps = random() * 0.5;
  const numbers = () =>
    Float64Array.from({ length }, () => (random() < gaps ? Number.NaN : Math.round(random() * 20 - 8) / 2 || 0));
  const curve = { steps, values: numbers() };
  if (random() < 0.5) Object.assign(curve, { low: numbers(), high: numbers() });
  if (random() < 0.5) curve.raw = numbers();
  return curve;
}

const inColumn =
  ([from, to], pixels) =>
  (step) =>
    Math.floor((step - from) * (pixels / (to - from)));

/** What every column of pixels must show, found the slow way: name of what it is → its value. */
function shown(curve, places, range, pixels, log) {
  const columns = {};
  const column = inColumn(range, pixels);
  for (const at of places) {
    columns[column(curve.steps[at])] ??= [];
    columns[column(curve.steps[at])].push(at);
  }
  const has = (value) => Number.isFinite(value) && (!log || value > 0);
  return Object.fromEntries(
    Object.entries(columns).map(([name, own]) => {
      const told = { first: own[0], last: own.at(-1) };
      for (const key of ["values", "raw", "low", "high"]) {
        if (!curve[key]) continue;
        const known = own.map((at) => curve[key][at]).filter(has);
        told[`${key} missing`] = own.find((at) => !has(curve[key][at]));
        if (key !== "high") told[`${key} lowest`] = known.length ? Math.min(...known) : null;
        if (key !== "low") told[`${key} highest`] = known.length ? Math.max(...known) : null;
      }
      return [name, told];
    }),
  );
}

test("every column of pixels keeps its ends, extremes and gaps, whatever the curve", () => {
  const random = randomNumbers(7);
  for (let round = 0; round < 400; round += 1) {
    const curve = randomCurve(random, Math.floor(random() * 300));
    const last = curve.steps.at(-1) ?? 10;
    const range = random() < 0.5 ? [0, last + 1] : [last * random() * 0.5, last * (0.5 + random())];
    if (!(range[1] > range[0])) continue;
    const pixels = 1 + Math.floor(random() * 80);
    const log = random() < 0.3;
    const kept = keptPlaces(curve, range, pixels, log);
    const within = (at) => curve.steps[at] >= range[0] && curve.steps[at] <= range[1];
    const all = [...curve.steps.keys()].filter(within);
    assert.deepEqual(shown(curve, kept.filter(within), range, pixels, log), shown(curve, all, range, pixels, log));
    assert.deepEqual(
      kept,
      [...new Set(kept)].sort((one, other) => one - other),
    );
    assert.ok(kept.length <= 12 * (pixels + 1) + 2);
    const around = [all[0] - 1, all.at(-1) + 1].filter((at) => at >= 0 && at < curve.steps.length);
    if (all.length) for (const at of around) assert.ok(kept.includes(at), "a line leads out of the picture");
  }
});

test("what has a pixel of its own is kept whole", () => {
  const steps = Float64Array.from({ length: 50 }, (_, at) => at);
  const kept = keptPlaces({ steps, values: steps.map(() => 1) }, [0, 49], 600);
  assert.deepEqual(kept, [...steps]);
});

test("one step alone, and none, are what they are", () => {
  assert.deepEqual(keptPlaces({ steps: Float64Array.of(3), values: Float64Array.of(1) }, [3, 3], 100), [0]);
  assert.deepEqual(keptPlaces({ steps: new Float64Array(0), values: new Float64Array(0) }, [0, 10], 100), []);
});

test("a peak and a gap of one step among 100,000 are kept, in a few thousand points", () => {
  const length = 100_000;
  const steps = Float64Array.from({ length }, (_, at) => at);
  const values = Float64Array.from({ length }, (_, at) => Math.sin(at / 1000));
  values[54_321] = 99;
  values[77_777] = Number.NaN;
  const kept = keptPlaces({ steps, values }, [0, length - 1], 400);
  assert.ok(kept.includes(54_321) && kept.includes(77_777) && kept.includes(0) && kept.includes(length - 1));
  assert.ok(kept.length < 2100, String(kept.length));
});

test("zero and below are gaps on a logarithmic axis, and the lowest is the lowest above zero", () => {
  const steps = Float64Array.from({ length: 8 }, (_, at) => at);
  const values = Float64Array.of(5, 3, -7, 0, 2, 4, 9, 5);
  assert.deepEqual(keptPlaces({ steps, values }, [0, 8], 1, true), [0, 2, 4, 6, 7]);
  assert.deepEqual(keptPlaces({ steps, values }, [0, 8], 1, false), [0, 2, 6, 7]);
});
