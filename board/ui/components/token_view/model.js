// What arrived from the server: tokens, counts, metrics and what is known of each token, read when first asked for. Pure.

import { alternativesOf } from "./alternatives.js";
import { bytesOf, codecOf, spell, textOf } from "./bytes.js";
import { clustered } from "./clusters.js";
import { foldingOf } from "./folding.js";
import { MeanMetric, TokenMetric } from "./metric.js";
import { joinedTexts } from "./search.js";
import { tokenTexts } from "./tokens.js";
import { segmentStarts, sentenceStarts, wordStarts } from "./units.js";

/** @import { Metric, Model, ShownMetric, Texts, Unit } from "./model_types" */
/** @import { ListedTop, MetricMeta, Payload } from "./payload_types" */

/**
 * Reads the payload of `payload.py`; tables are Arrow tables with one column per array. `model.token(i)` is the text of a token, `model.id(i)`
 * its number in the vocabulary or null, `model.alternatives` as of alternatives.js.
 * @param {Payload} payload
 * @returns {Model}
 */
export function modelOf({ meta, tokens, counts, values, ids, likeliest, likeliest_of }) {
  const kept = meta.n === 0 ? new Uint8Array(0) : counts.getChildAt(0).toArray();
  const texts = tokenTexts(meta.n === 0 ? null : tokens.getChildAt(0), meta);
  /** @param {number} i */
  const numbers = (i) => (meta.n === 0 ? new Float32Array(0) : values.getChildAt(i).toArray());
  /** @param {MetricMeta} metric */
  const sideOf = ({ side }) => meta.metrics.findIndex(({ name }) => name === side);
  const metrics = meta.metrics.map(
    (metric, i) => new TokenMetric(metric, numbers(i), kept, sideOf(metric) < 0 ? null : numbers(sideOf(metric))),
  );
  const numbersOf = ids?.getChildAt(0).toArray();
  /** @param {number} i */
  const id = (i) => (numbersOf === undefined || numbersOf[i] < 0 ? null : numbersOf[i]);
  const folding = foldingOf(meta.segments ?? []);
  return {
    ...meta,
    texts,
    token: texts.at,
    id,
    ...spelling(texts),
    counts: kept,
    metrics,
    alternatives: alternativesOf(likeliest, likeliest_of),
    folding,
    tops: topsOf(meta.top),
    granularities: new Map(),
  };
}

/**
 * The metric as it colours the text: itself, or its mean over each word, sentence or segment, of the tokens that count. A mean,
 * not a sum: it says the same of units of any length.
 * @param {Model} model
 * @param {Metric | null} metric
 * @param {string} granularity
 * @returns {ShownMetric | null}
 */
export function shownMetric(model, metric, granularity) {
  if (metric === null || granularity === "token") return metric;
  const { starts, metrics } = model.granularities.get(granularity) ?? {
    starts: startsOf(model, granularity),
    metrics: new Map(),
  };
  model.granularities.set(granularity, { starts, metrics });
  const mean = metrics.get(metric) ?? new MeanMetric(metric, model.counts, starts);
  metrics.set(metric, mean);
  mean.follow(metric);
  return mean;
}

/**
 * @param {Model} model
 * @param {string} granularity
 * @returns {number[]}
 */
function startsOf(model, granularity) {
  if (granularity === "segment") return segmentStarts(model.folding.segments, model.n);
  // Words are those of the text, also while tokens are drawn by their names.
  const read = Object.create(model, { raw: { value: false } });
  const all = joinedTexts(model.n, (i) => read.drawn(i));
  return granularity === "word" ? wordStarts(all) : sentenceStarts(all);
}

/**
 * What a token is among the greatest of the KL, by position: "five" or "percent".
 * @param {ListedTop | null | undefined} top
 * @returns {Map<number, string>}
 */
function topsOf(top) {
  const tops = new Map((top?.percent ?? []).map((i) => [i, "percent"]));
  for (const i of top?.five ?? []) tops.set(i, "five");
  return tops;
}

/**
 * How the tokens are drawn: `units(i)` as of `spell`, `drawn(i)` the text of it, `bytes(i)`. With `raw` set, tokens are drawn by name.
 * @param {Texts} texts
 */
function spelling(texts) {
  const codec = codecOf(texts);
  /** @param {number} i */
  const bytes = (i) => bytesOf(codec, texts.at(i));
  /**
   * @param {number} i
   * @returns {Unit[]}
   */
  const spelled = (i) => (codec === "plain" ? [{ text: texts.at(i) }] : spell(bytes, texts.n, i));
  /**
   * @this {Model}
   * @param {number} i
   */
  const units = function (i) {
    return this.raw ? [{ text: texts.at(i) }] : clustered(spelled, texts, i);
  };
  /**
   * @this {Model}
   * @param {number} i
   */
  const drawn = function (i) {
    return codec === "plain" ? texts.at(i) : textOf(this.units(i));
  };
  return { codec, raw: false, spaces: false, ranked: false, bytes, units, drawn };
}

/**
 * The metric of this name, or null.
 * @param {Pick<Model, "metrics">} model
 * @param {string | null | undefined} name
 * @returns {Metric | null}
 */
export function metricOf(model, name) {
  return model.metrics.find((metric) => metric.name === name) ?? null;
}

/**
 * Index in the window of a token of the whole response; null when it lies elsewhere.
 * @param {Pick<Model, "start" | "n">} model
 * @param {number | null} position
 * @returns {number | null}
 */
export function localIndex(model, position) {
  if (position === null || position < model.start || position >= model.start + model.n) return null;
  return position - model.start;
}

/**
 * How many tokens are masked, and have no number or an infinite one, so that the legend explains only what is to be seen.
 * @param {Model} model
 * @param {ShownMetric | null} metric
 */
export function traits(model, metric) {
  const { counts, n } = model;
  const values = metric?.values;
  let [masked, missing, infinite] = [0, 0, 0];
  for (let i = 0; i < n; i += 1) {
    if (counts[i] === 0) masked += 1;
    else if (values && !Number.isFinite(values[i])) {
      if (Number.isNaN(values[i])) missing += 1;
      else infinite += 1;
    }
  }
  return { masked, missing, infinite };
}
