import assert from "node:assert/strict";
import { test } from "node:test";
import { svgOf } from "../../../board/ui/components/curves/svg.js";

const floats = (...values) => Float64Array.from(values);
const curve = (steps, values, more = {}) => ({
  name: "policy",
  color: "#12908a",
  dash: [],
  width: 2,
  steps: floats(...steps),
  values: floats(...values),
  ...more,
});
const card = (curves, more = {}) => ({
  key: "k",
  title: "Reward",
  unit: "nat",
  drawn: "",
  log: false,
  runs: false,
  axis: "step",
  healthy: null,
  departure: null,
  fromZero: false,
  curves,
  ...more,
});
const texts = (svg) => [...svg.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text);
const strokes = (svg, color) =>
  [...svg.matchAll(/<path [^>]*>/g)].map(([path]) => path).filter((path) => path.includes(`stroke="${color}"`));

test("title, what is drawn, round numbers on both axes", () => {
  const svg = svgOf(card([curve([0, 50, 100], [0, 1, 2])], { drawn: "mean" }), [0, 100]);
  assert.deepEqual(texts(svg).slice(0, 2), ["Reward", "nat · mean"]);
  for (const told of ["0", "1", "2", "20", "100", "step"]) assert.ok(texts(svg).includes(told), told);
  assert.match(svg, /<title>Reward<\/title>/);
});

test("a gap parts the line, and a point that stands alone is a dot", () => {
  const svg = svgOf(card([curve([0, 1, 2, 3, 4, 5], [1, 2, Number.NaN, 3, Number.NaN, 4])]), [0, 5]);
  const [line] = strokes(svg, "#12908a");
  assert.equal(line.match(/M/g).length, 3);
  assert.equal(line.match(/L/g).length, 1);
  assert.equal([...svg.matchAll(/<circle [^>]*fill="#12908a"/g)].length, 2);
});

test("dashes, bands and the line before smoothing are drawn as they are given", () => {
  const more = { dash: [6, 4], low: floats(0, 0, 0), high: floats(2, 2, 2), raw: floats(1, 0, 1) };
  const svg = svgOf(card([curve([0, 1, 2], [1, 1, 1], more)]), [0, 2]);
  const [raw, line] = strokes(svg, "#12908a");
  assert.doesNotMatch(raw, /dasharray/);
  assert.match(line, /stroke-dasharray="6 4"/);
  assert.equal([...svg.matchAll(/fill-opacity="0.2"/g)].length, 1);
});

test("two lines are named at their ends, one is not, and of many those that have room", () => {
  const named = (count) => {
    const curves = Array.from({ length: count }, (_, at) => curve([0, 1], [at, at], { name: `line ${at}` }));
    return texts(svgOf(card(curves), [0, 1]));
  };
  assert.ok(!named(1).includes("line 0"));
  assert.deepEqual(named(2).slice(-2), ["line 0", "line 1"]);
  const many = named(60).filter((told) => told.startsWith("line "));
  assert.ok(many.length >= 15 && many.length < 60);
  assert.ok(named(60).includes(`nat · ${60 - many.length} lines are not named`));
});

test("the healthy range and the departure from it stand where the axis reaches them", () => {
  const drawn = (healthy, departure, more = {}) =>
    svgOf(card([curve([0, 10], [1, 2])], { healthy, departure, ...more }), [0, 10]).match(/stroke-dasharray="1 3"|r="6"/g) ?? [];
  assert.equal(drawn({ low: 1.2, high: 1.8 }, { step: 5, value: 1.9 }).length, 3);
  assert.equal(drawn({ low: null, high: 99 }, { step: 50, value: 1.9 }).length, 0);
  assert.equal(drawn({ low: -1, high: 1.5 }, { step: 5, value: -1 }, { log: true }).length, 1);
});

test("whatever the numbers, each number of the picture is finite", () => {
  const odd = [
    Number.NaN,
    0,
    -0,
    1e-308,
    -1e-308,
    1e308,
    -1e308,
    5,
    -5,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1e-9,
  ];
  for (const first of odd)
    for (const second of odd)
      for (const log of [false, true]) {
        const more = { low: floats(second, first, 0), high: floats(first, second, 1), raw: floats(second, second, first) };
        const told = { log, healthy: { low: first, high: second }, departure: { step: 1, value: second } };
        const svg = svgOf(card([curve([0, 1, 7], [first, second, first], more), curve([7], [second])], told), [0, 7]);
        assert.doesNotMatch(svg, /NaN|Infinity|undefined|null/, `${first} ${second} ${log}`);
      }
  for (const [steps, range] of [
    [[], [0, 1]],
    [[5], [5, 5]],
    [
      [1, 2],
      [50, 60],
    ],
  ])
    assert.doesNotMatch(svgOf(card([curve(steps, steps)]), range), /NaN|Infinity|undefined|null/);
});

test("100,000 points make a picture of moderate size that keeps the peak", () => {
  const steps = Float64Array.from({ length: 100_000 }, (_, at) => at);
  const values = steps.map((step) => Math.sin(step / 500));
  values[54_321] = 50;
  const svg = svgOf(card([{ ...curve([], []), steps, values }]), [0, 99_999]);
  assert.ok(svg.length < 200_000, String(svg.length));
  const heights = [...strokes(svg, "#12908a")[0].matchAll(/[ML][\d.-]+ ([\d.-]+)/g)].map(([, y]) => Number(y));
  assert.ok(heights.some((y) => y < 30) && heights.filter((y) => y < 200).length < 4);
});
