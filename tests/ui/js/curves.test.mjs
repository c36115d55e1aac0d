import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf } from "../../../board/ui/components/curves/columns.js";
import { decode } from "../../../board/ui/components/curves/decode.js";
import { apart, shortName } from "../../../board/ui/components/curves/label_places.js";
import { numberText, stepText } from "../../../board/ui/components/curves/number_text.js";
import {
  askZoom,
  choose,
  claim,
  leave,
  margin,
  pageState,
  point,
  setZoom,
} from "../../../board/ui/components/curves/page_state.js";
import { lonePlaces, plotData, stretches } from "../../../board/ui/components/curves/plot_data.js";
import {
  described,
  latestPoint,
  marksBeside,
  marksOf,
  nearestStep,
  neighbourStep,
  readings,
  runReadings,
  spoken,
} from "../../../board/ui/components/curves/readings.js";
import { evenTicks, logTicks, stepTicks, tickText } from "../../../board/ui/components/curves/ticks.js";
import { firstFrom, stepAxis, valueAxis } from "../../../board/ui/components/curves/value_range.js";

const floats = (...values) => Float64Array.from(values);

function curve(steps, values, more = {}) {
  return { name: "policy", color: "#12908a", dash: [], width: 2, steps: floats(...steps), values: floats(...values), ...more };
}

function card(curves, more = {}) {
  const texts = { note: "", help: [], gloss: "", said: [], look: "" };
  const empty = {
    key: "k",
    title: "T",
    unit: "reward",
    drawn: "",
    log: false,
    runs: false,
    axis: "step",
    healthy: null,
    departure: null,
    texts,
    fromZero: false,
  };
  return { ...empty, curves, ...more };
}

test("arrays are views on the numbers that were sent", () => {
  const sent = { name: "a", color: "#000000", dash: [], width: 2, steps: [0, 2], values: [2, 2], raw: [1, 2] };
  const numbers = floats(4, 5, 0.5, 0.25);
  const [made] = decode({ cards: [card([sent])], axis: { word: "tokens", keeps: false } }, numbers);
  assert.deepEqual([...made.curves[0].steps], [4, 5]);
  assert.deepEqual([...made.curves[0].values], [0.5, 0.25]);
  assert.deepEqual([...made.curves[0].raw], [5, 0.5]);
  assert.equal(made.curves[0].low, undefined);
  assert.equal(made.axis, "tokens");
  assert.equal(made.curves[0].values.buffer, numbers.buffer);
});

test("the axis of values reaches over all that is drawn between two steps", () => {
  const steps = [0, 1, 2, 3];
  const drawn = card([curve(steps, [0, 10, Number.NaN, 100], { low: floats(-5, 5, 0, 90), high: floats(5, 15, 0, 110) })]);
  const [low, high] = valueAxis(drawn, [0, 2]);
  assert.ok(low < -5 && low > -7 && high > 15 && high < 17);
  assert.ok(valueAxis(drawn, [3, 3])[0] > 80);
  assert.deepEqual(valueAxis(card([curve(steps, [1, 1, 1, 1])]), [0, 3]), [0.94, 1.06]);
  assert.deepEqual(valueAxis(card([curve(steps, [0, 0, 0, 0])]), [0, 3]), [-0.06, 1]);
  assert.deepEqual(valueAxis(card([curve([], [])]), [0, 3]), [0, 1]);
  assert.ok(valueAxis(card([curve([0, 1], [5, 6])], { fromZero: true }), [0, 1])[0] <= 0);
});

test("what differs by rounding alone is one value", () => {
  const [low, high] = valueAxis(card([curve([0, 1], [0.1, 0.1 + 2 ** -56])]), [0, 1]);
  assert.ok(low < 0.095 && high > 0.105);
});

test("a logarithmic axis leaves out what is not above zero", () => {
  const [low, high] = valueAxis(card([curve([0, 1, 2], [-1, 0.01, 100])], { log: true }), [0, 2]);
  assert.ok(low > 0.001 && low < 0.01 && high > 100 && high < 1000);
});

test("a lone step has an axis around it", () => {
  assert.deepEqual(stepAxis([7, 7]), [6.5, 7.5]);
  assert.deepEqual(stepAxis([0, 100]), [-2, 102]);
});

test("the first place that is not below a step is found in any rising array", () => {
  for (const steps of [[], [3], [0, 2, 4, 8], [1, 2, 3, 4, 5]])
    for (let step = -1; step < 10; step += 0.5) {
      const slow = steps.findIndex((one) => one >= step);
      assert.equal(firstFrom(steps, step), slow < 0 ? steps.length : slow);
    }
});

test("ticks are round, within the ends and few", () => {
  assert.deepEqual(evenTicks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(evenTicks(-0.31, 0.29, 4), [-0.2, 0, 0.2]);
  assert.deepEqual(stepTicks(0, 3, 8), [0, 1, 2, 3]);
  assert.deepEqual(stepTicks(-2, 102, 6), [0, 20, 40, 60, 80, 100]);
  for (const [low, high] of [
    [1e-7, 1e-3],
    [150, 170],
    [0.9, 1.1],
    [1, 10],
    [3, 3],
    [1e-300, 1e300],
    [2.5e-5, 3.5e-5],
  ]) {
    const ticks = logTicks(low, high, 5);
    assert.ok(ticks.length >= 1 && ticks.length <= 6, `${low} ${high} ${ticks}`);
    assert.ok(
      ticks.every((tick) => tick >= low * (1 - 1e-3) && tick <= high * (1 + 1e-3)),
      `${low} ${high} ${ticks}`,
    );
  }
  assert.deepEqual(logTicks(0.1, 1000, 5), [0.1, 1, 10, 100, 1000]);
  assert.deepEqual([160, 0.02, 2e-5, -0.5, 0, 123456].map(tickText), ["160", "0.02", "2e\u22125", "\u22120.5", "0", "1.235e5"]);
});

test("numbers are written as the board writes them", () => {
  const cases = {
    0.123456: "0.123",
    12.345: "12.3",
    1234.5: "1,235",
    64: "64",
    12345: "12,345",
    1.234e-5: "1.23e\u22125",
    0: "0",
  };
  for (const [value, text] of Object.entries(cases)) assert.equal(numberText(Number(value)), text);
  assert.equal(numberText(-8.09e-9), "\u22128.09e\u22129");
  assert.equal(numberText(Number.NaN), "–");
  assert.equal(numberText(-Infinity), "\u2212∞");
  assert.equal(numberText(0.9996), "1.00");
  assert.equal(stepText(12345), "12,345");
});

test("names do not overlap, keep their order and stay within the plot", () => {
  assert.deepEqual(apart([10, 50], 14, 7, 100), [10, 50]);
  for (const places of [
    [50, 50, 50],
    [98, 99],
    [3, 4, 5, 90],
    [20, 10, 15],
    [0, 100, 50, 51],
  ]) {
    const moved = apart(places, 14, 7, 100);
    const order = places.map((_, at) => at).sort((one, other) => places[one] - places[other] || one - other);
    for (let at = 1; at < order.length; at += 1) assert.ok(moved[order[at]] - moved[order[at - 1]] >= 14 - 1e-9);
    assert.ok(moved.every((place) => place >= 7 && place <= 100));
  }
  assert.equal(shortName("reference, validation", 15), "referen…dation");
  assert.equal(shortName("policy", 15), "policy");
});

test("lines share one axis of steps: a gap is null, a step of another line is undefined", () => {
  const drawn = card([curve([0, 1, 2], [1, Number.NaN, 3]), curve([1, 4], [5, 6], { raw: floats(7, 8) })]);
  const { steps, strokes } = plotData(drawn, [
    [0, 1, 2],
    [0, 1],
  ]);
  assert.deepEqual([...steps], [0, 1, 2, 4]);
  assert.deepEqual(
    strokes.map(({ column }) => column),
    [
      [undefined, 7, undefined, 8],
      [1, null, 3, undefined],
      [undefined, 5, undefined, 6],
    ],
  );
  assert.deepEqual(
    strokes.map(({ lone }) => lone),
    [[], [0, 2], []],
  );
  assert.deepEqual(lonePlaces([undefined, 1, undefined]), [1]);
});

test("a band is cut where it is missing", () => {
  const [low, high] = [floats(0, 0, Number.NaN, 0, 0), floats(1, 1, 1, Number.NaN, 1)];
  assert.deepEqual(stretches(curve([0, 1, 2, 3, 4], [0, 0, 0, 0, 0], { low, high }), [0, 1, 2, 3, 4]), [[0, 1], [4]]);
  assert.deepEqual(stretches(curve([0], [0]), [0]), []);
});

test("a curve without a value at a step tells the one before it", () => {
  const line = curve([0, 2, 4], [1, 2, Number.NaN]);
  assert.deepEqual(latestPoint(line, 5), { step: 2, value: 2 });
  assert.deepEqual(latestPoint(line, 2), { step: 2, value: 2 });
  assert.equal(latestPoint(line, -1), null);
});

test("the crosshair stands on steps that some curve has", () => {
  const drawn = card([curve([0, 10], [1, 1]), curve([4, 20], [1, 1])]);
  assert.equal(nearestStep(drawn, 6.9), 4);
  assert.equal(nearestStep(drawn, 7.1), 10);
  assert.equal(nearestStep(drawn, 99), 20);
  assert.equal(nearestStep(card([]), 3), null);
  assert.equal(neighbourStep(drawn, 4, 1), 10);
  assert.equal(neighbourStep(drawn, 4, -1), 0);
  assert.equal(neighbourStep(drawn, 0, -1), null);
});

test("every curve says its value at the crosshair, with the band and the count, or that it has none", () => {
  const more = { low: floats(0.25), high: floats(0.75), count: floats(48) };
  const drawn = card([curve([3], [Number.NaN], { name: "none" }), curve([3], [0.5], more)], { unit: "% of rollouts" });
  assert.deepEqual(
    readings(drawn, 3).map(({ name, value, more: rest }) => [name, value, rest]),
    [
      ["policy", "0.500 %", "0.250 to 0.750, n 48"],
      ["none", "–", ""],
    ],
  );
  assert.equal(spoken([drawn], 3), "Step 3. T: policy 0.500 %, none –");
  assert.match(described(drawn, 3, []), /^Curves over steps: T, % of rollouts\. At step 3: policy 0\.500 %, none\.$/);
});

test("each run says its value at a place, the one before where it has none, and nothing beyond its ends", () => {
  const runs = [
    curve([10, 20], [1, 2], { name: "b", low: floats(0, 1), high: floats(2, 3) }),
    curve([0, 16, 40], [5, 6, 7], { name: "a" }),
  ];
  const laidOver = card(runs, { runs: true, axis: "rollouts" });
  assert.deepEqual(runReadings(laidOver, 16), [
    { value: "6", more: "" },
    { value: "1", more: "0 to 2, at 10 rollouts" },
  ]);
  assert.deepEqual(runReadings(laidOver, 4)[1], { value: "–", more: "from 10 rollouts" });
  assert.deepEqual(runReadings(laidOver, 30)[1], { value: "–", more: "to 20 rollouts" });
  assert.match(spoken([laidOver], 16), /^16 rollouts\. .*a 6, b 1$/);
});

test("what was found is marked in the curves that it is about, and said at its step", () => {
  const drawn = card([curve([0, 5], [1, 2])], { shows: ["reward"] });
  const marks = [
    { step: 3, text: "Finding from step 3: T", severity: "warning", names: ["reward", "reward/mean"] },
    { step: 4, text: "another", severity: "note", names: ["kl"] },
  ];
  const found = marksOf(drawn, { step: 0, zoom: null, pinned: [], marks });
  assert.deepEqual(found, [marks[0]]);
  assert.deepEqual(marksOf(drawn, null), []);
  const everywhere = { step: 1, text: "unlike", severity: "unlike", names: [] };
  const choice = { step: 0, zoom: null, pinned: [], marks: [everywhere] };
  assert.deepEqual(marksOf(drawn, choice), [everywhere]);
  assert.deepEqual(marksOf({ ...drawn, runs: true }, choice), [], "other runs have other steps");
  const across = (step) => 10 * step;
  assert.deepEqual(
    [null, 0, 3].map((at) => marksBeside(found, at, { across }).length),
    [0, 0, 1],
  );
  assert.match(described(drawn, null, found), /Finding from step 3: T\.$/);
});

test("as many panels stand side by side as fit, and one fewer where the last row would be emptier", () => {
  const layout = { columns: 3, even: false };
  assert.deepEqual(
    [1400, 940, 700, 640].map((width) => columnsOf(width, 9, layout)),
    [3, 2, 2, 1],
  );
  assert.equal(columnsOf(1400, 4, { ...layout, even: true }), 2);
  assert.equal(columnsOf(1400, 5, { ...layout, even: true }), 3);
  assert.equal(columnsOf(1400, 1, { ...layout, even: true }), 3);
});

test("choices of the server and of the reader meet, and each change is told once", () => {
  const state = pageState({});
  const heard = [];
  state.listeners.set(heard, (what) => heard.push(what));
  choose(state, { step: 3, zoom: null, pinned: [] });
  setZoom(state, [2, 9]);
  setZoom(state, [2, 9]);
  choose(state, { step: 4, zoom: null, pinned: [] });
  assert.deepEqual(state.zoom, [2, 9], "what the server repeats is no news");
  choose(state, { step: 4, zoom: [1, 5], pinned: [] });
  point(state, 7);
  point(state, 7);
  assert.deepEqual(state.zoom, [1, 5]);
  assert.deepEqual(heard, ["choice", "zoom", "choice", "zoom", "choice", "at"]);
});

test("a zoom that the server repeats does not undo the one after it", () => {
  const state = pageState({});
  const choice = { step: 3, zoom: null, pinned: [] };
  choose(state, choice);
  assert.equal(askZoom(state, [1, 9]), true);
  assert.equal(askZoom(state, [1, 9]), false);
  askZoom(state, [2, 5]);
  choose(state, { ...choice, zoom: [1, 9] });
  assert.deepEqual(state.zoom, [2, 5]);
  choose(state, { ...choice, zoom: [2, 5] });
  choose(state, choice);
  assert.equal(state.zoom, null, "going back takes the zoom away");
});

test("all panels of a page keep as much room for names as the longest needs", () => {
  const state = pageState({});
  const [one, other] = [{}, {}];
  claim(state, one, 20);
  claim(state, other, 90);
  assert.equal(margin(state), 90);
  leave(state, other);
  assert.equal(margin(state), 20);
});
