import assert from "node:assert/strict";
import { test } from "node:test";
import { localIndex, metricOf, modelOf, shownMetric, traits } from "../../../board/ui/components/token_view/model.js";

const column = (array) => ({ getChildAt: () => ({ toArray: () => array }) });
const text = (tokens) => {
  const parts = tokens.map((token) => new TextEncoder().encode(token));
  const valueOffsets = Int32Array.from([
    0,
    ...parts.map((_, i) => parts.slice(0, i + 1).reduce((sum, part) => sum + part.length, 0)),
  ]);
  return { getChildAt: () => ({ data: [{ values: Uint8Array.from(parts.flatMap((part) => [...part])), valueOffsets }] }) };
};
const KL = { name: "kl", scale: "sequential", loud: "high", range: null };
const payload = (tokens, values, meta = {}) => ({
  meta: { n: tokens.length, start: 10, total: 99, odd: {}, metrics: [KL], ...meta },
  tokens: text(tokens),
  counts: column(Uint8Array.from(tokens, (_, i) => Number(i !== 0))),
  values: column(Float32Array.from(values)),
});

test("tokens, counts and metrics are joined; tokens Arrow could not carry come from the JSON", () => {
  const model = modelOf(payload(["<pad>", "", "b"], [9, NaN, Infinity], { odd: { 1: '"\\ud83d"' } }));
  assert.deepEqual([0, 1, 2].map(model.token), ["<pad>", "\ud83d", "b"]);
  assert.deepEqual(traits(model, metricOf(model, "kl")), { masked: 1, missing: 1, infinite: 1 });
  assert.equal(metricOf(model, "value"), null);
});

test("an empty response and a row without metrics make a model too", () => {
  const empty = modelOf({ meta: { n: 0, start: 0, total: 0, odd: {}, metrics: [KL] } });
  assert.deepEqual([empty.texts.n, empty.metrics[0].finite], [0, 0]);
  assert.deepEqual(modelOf(payload(["a"], [0], { metrics: [] })).metrics, []);
});

test("a position outside the window has no place in it", () => {
  const model = modelOf(payload(["a", "b"], [0, 1]));
  assert.deepEqual(
    [null, 9, 10, 11, 12].map((position) => localIndex(model, position)),
    [null, null, 0, 1, null],
  );
});

test("a metric coloured by word has its mean in every token of the word, a scale of its own, and extremes that step over words", () => {
  const model = modelOf(payload(["<s>", " cat", "egory", " is", " so"], [50, 1, 3, 0, 1]));
  const kl = metricOf(model, "kl");
  assert.equal(shownMetric(model, kl, "token"), kl);
  assert.equal(shownMetric(model, null, "word"), null);
  const words = shownMetric(model, kl, "word");
  assert.deepEqual([...words.values], [NaN, 2, 2, 0, 1]);
  assert.deepEqual([words.finite, words.max], [3, 2]);
  assert.deepEqual(words.extremes, [1, 4]);
  assert.equal(words.placeAt(1), 1);
  assert.equal(words.placeAt(2), words.placeAt(1));
  assert.equal(shownMetric(model, kl, "word"), words);
  kl.rescale({ kind: "fixed", ends: [0, 4] });
  assert.equal(shownMetric(model, kl, "word").placeAt(2), 0.5);
  assert.deepEqual([...kl.values], [50, 1, 3, 0, 1]);
});

test("the largest of the KL are known by position, the five before the rest", () => {
  const model = modelOf(payload(["a", "b"], [0, 1], { top: { five: [1], percent: [0, 1] } }));
  assert.deepEqual([...model.tops].sort(), [
    [0, "percent"],
    [1, "five"],
  ]);
});

test("a size with a side is coloured on that side of zero, by token and by word, and its numbers stay what they are", () => {
  const metrics = [
    { ...KL, scale: "diverging", side: "log_ratio" },
    { ...KL, name: "log_ratio", scale: "diverging" },
  ];
  const sizes = Float32Array.from([0, 26, 11, NaN, 2]);
  const signs = Float32Array.from([0, -3.4, 12, NaN, 3]);
  const model = modelOf({
    ...payload(["<s>", " cat", "egory", " is", " so"], [], { metrics }),
    values: { getChildAt: (i) => ({ toArray: () => [sizes, signs][i] }) },
  });
  const kl = metricOf(model, "kl");
  assert.deepEqual([...kl.values], [...sizes]);
  assert.deepEqual([...kl.toned], [0, -26, 11, NaN, 2]);
  assert.deepEqual([kl.placeAt(1), kl.places[1], kl.lo, kl.hi], [-1, -1, -26, 26]);
  assert.ok(kl.placeAt(2) > 0 && Number.isNaN(kl.placeAt(3)));
  assert.deepEqual([kl.loudness[1], kl.extremes[0]], [26, 1]);
  const words = shownMetric(model, kl, "word");
  assert.deepEqual([words.values[1], words.toned[1]], [18.5, 18.5]);
  const ratio = metricOf(model, "log_ratio");
  assert.deepEqual([ratio.side, ratio.toned], [null, ratio.values]);
});
