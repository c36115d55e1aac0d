// What arrived from the server: tokens, counts, and each metric with its scale, places and cells, worked out when first asked for. Pure.

import { alternativesOf } from "./alternatives.js";
import { bytesOf, codecOf, spell, textOf } from "./bytes.js";
import { clustered } from "./clusters.js";
import { foldingOf } from "./folding.js";
import { cellsOf } from "./heat_layout.js";
import { Ranking } from "./rank.js";
import { placeOn, placesOf, scaleOf, sided } from "./scale.js";
import { extremesOf, joinedTexts, loudnessOf } from "./search.js";
import { tokenTexts } from "./tokens.js";
import { segmentStarts, sentenceStarts, spread, unitMeans, wordStarts } from "./units.js";

/**
 * Reads the payload of `payload.py`; tables are Arrow tables with one column per array. `model.token(i)` is the text of a token, `model.id(i)`
 * its number in the vocabulary or null, `model.alternatives` as of alternatives.js.
 */
export function modelOf({ meta, tokens, counts, values, ids, likeliest, likeliest_of }) {
  const kept = meta.n === 0 ? new Uint8Array(0) : counts.getChildAt(0).toArray();
  const texts = tokenTexts(meta.n === 0 ? null : tokens.getChildAt(0), meta);
  const numbers = (i) => (meta.n === 0 ? new Float32Array(0) : values.getChildAt(i).toArray());
  const sideOf = ({ side }) => meta.metrics.findIndex(({ name }) => name === side);
  const metrics = meta.metrics.map(
    (metric, i) => new Metric(metric, numbers(i), kept, sideOf(metric) < 0 ? null : numbers(sideOf(metric))),
  );
  const numbersOf = ids?.getChildAt(0).toArray();
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
 */
export function shownMetric(model, metric, granularity) {
  if (metric === null || granularity === "token") return metric;
  if (!model.granularities.has(granularity))
    model.granularities.set(granularity, { starts: startsOf(model, granularity), metrics: new Map() });
  const { starts, metrics } = model.granularities.get(granularity);
  if (!metrics.has(metric)) metrics.set(metric, new MeanMetric(metric, model.counts, starts));
  const mean = metrics.get(metric);
  mean.follow(metric);
  return mean;
}

function startsOf(model, granularity) {
  if (granularity === "segment") return segmentStarts(model.folding.segments, model.n);
  // Words are those of the text, also while tokens are drawn by their names.
  const read = Object.create(model, { raw: { value: false } });
  const all = joinedTexts(model.n, (i) => read.drawn(i));
  return granularity === "word" ? wordStarts(all) : sentenceStarts(all);
}

/** What a token is among the greatest of the KL, by position: "five" or "percent". */
function topsOf(top) {
  const tops = new Map((top?.percent ?? []).map((i) => [i, "percent"]));
  for (const i of top?.five ?? []) tops.set(i, "five");
  return tops;
}

/**
 * How the tokens are drawn: `units(i)` as of `spell`, `drawn(i)` the text of it, `bytes(i)`. With `raw` set, tokens are drawn by name.
 */
function spelling(texts) {
  const codec = codecOf(texts);
  const bytes = (i) => bytesOf(codec, texts.at(i));
  const spelled = (i) => (codec === "plain" ? [{ text: texts.at(i) }] : spell(bytes, texts.n, i));
  const units = function (i) {
    return this.raw ? [{ text: texts.at(i) }] : clustered(spelled, texts, i);
  };
  const drawn = function (i) {
    return codec === "plain" ? texts.at(i) : textOf(this.units(i));
  };
  return { codec, raw: false, bytes, units, drawn };
}

/** What is said of a metric, without its numbers. */
function descriptionOf({ name, unit, meaning, scale, loud, range, poles }) {
  return { name, unit, meaning, scale, loud, range, poles };
}

/** One metric. A long response has many, and few are looked at: nothing is computed before it is read. */
class Metric {
  #meta;
  #side;
  #toned = null;
  #counts;
  #scale = null;
  #places = null;
  #cells = null;
  #loudness = null;
  #extremes = null;
  #ranking = null;
  #colorRange = undefined;

  /** `side` are numbers whose sign says on which side of zero each of the `values`, a size, is coloured; null: their own. */
  constructor(meta, values, counts, side = null) {
    this.#meta = meta;
    this.#side = side;
    this.#counts = counts;
    Object.assign(this, { ...descriptionOf(meta), values });
  }

  get side() {
    return this.#side;
  }

  /** The numbers as they are coloured: with their side. */
  get toned() {
    this.#toned ??= this.#side === null ? this.values : sided(this.values, this.#side);
    return this.#toned;
  }

  get ends() {
    this.#scale ??= scaleOf(this.toned, this.#counts, this.#meta, this.#colorRange);
    return this.#scale;
  }

  get colorRange() {
    return this.#colorRange;
  }

  /** Takes another range; numbers, cells and loudness stay what they are. */
  rescale(colorRange) {
    if (colorRange?.kind === this.#colorRange?.kind && String(colorRange?.ends) === String(this.#colorRange?.ends)) return;
    this.#colorRange = colorRange;
    this.#scale = this.#places = null;
  }

  /** How the range was chosen, as in color_ranges.js. */
  get kind() {
    return this.#colorRange?.kind ?? "q";
  }
  get log() {
    return this.ends.log;
  }

  get lo() {
    return this.ends.lo;
  }
  get hi() {
    return this.ends.hi;
  }
  get min() {
    return this.ends.min;
  }
  get max() {
    return this.ends.max;
  }
  get finite() {
    return this.ends.finite;
  }

  /** Where token `i` lies on the scale; the first screen needs a few hundred of these, and is not to wait for all. */
  placeAt(i) {
    return this.#places === null ? placeOn(this.ends, this.toned[i]) : this.#places[i];
  }

  /** Where each token lies on the scale. */
  get places() {
    this.#places ??= placesOf(this.ends, this.toned);
    return this.#places;
  }

  /** What each token's cell of the heatmap is. */
  get cells() {
    this.#cells ??= cellsOf(this.values, this.#counts);
    return this.#cells;
  }

  /** Distance of each token from the quiet end, in the metric's unit. */
  get loudness() {
    this.#loudness ??= loudnessOf(this, this.#counts);
    return this.#loudness;
  }

  /** How each token ranks among the others. */
  get ranking() {
    this.#ranking ??= new Ranking(this, this.#counts);
    return this.#ranking;
  }

  /** The loudest tokens, in the order of the response. */
  get extremes() {
    this.#extremes ??= extremesOf(this.loudness);
    return this.#extremes;
  }
}

/** A metric's mean over units of tokens; each token has the number and the place of its unit. */
class MeanMetric {
  #units;
  #toned = null;
  #starts;
  #counts;
  #places = null;
  #cells = null;
  #loudness = null;

  constructor(metric, counts, starts) {
    const mean = unitMeans(metric.values, counts, starts);
    const side = metric.side && unitMeans(metric.side, counts, starts).means;
    this.#units = new Metric(descriptionOf(metric), mean.means, mean.counts, side);
    this.#starts = starts;
    this.#counts = counts;
    Object.assign(this, { ...descriptionOf(metric), side, values: spread(mean.means, starts, metric.values.length) });
  }

  /** Takes the range that the metric itself has been given. */
  follow(metric) {
    if (this.#units.colorRange === metric.colorRange) return;
    this.#units.rescale(metric.colorRange);
    this.#places = null;
  }

  get toned() {
    this.#toned ??= spread(this.#units.toned, this.#starts, this.values.length);
    return this.#toned;
  }

  get log() {
    return this.#units.log;
  }
  get lo() {
    return this.#units.lo;
  }
  get hi() {
    return this.#units.hi;
  }
  get min() {
    return this.#units.min;
  }
  get max() {
    return this.#units.max;
  }
  get finite() {
    return this.#units.finite;
  }

  get places() {
    this.#places ??= spread(this.#units.places, this.#starts, this.values.length);
    return this.#places;
  }

  placeAt(i) {
    return this.places[i];
  }

  get cells() {
    this.#cells ??= cellsOf(this.values, this.#counts);
    return this.#cells;
  }

  get loudness() {
    // A masked token is none of its unit's: it has no bar in the minimap.
    this.#loudness ??= spread(this.#units.loudness, this.#starts, this.values.length).map((size, i) =>
      this.#counts[i] === 0 ? -1 : size,
    );
    return this.#loudness;
  }

  /** First tokens of the loudest units. */
  get extremes() {
    return this.#units.extremes.map((u) => this.#starts[u]);
  }
}

/** The metric of this name, or null. */
export function metricOf(model, name) {
  return model.metrics.find((metric) => metric.name === name) ?? null;
}

/** Index in the window of a token of the whole response; null when it lies elsewhere. */
export function localIndex(model, position) {
  if (position === null || position < model.start || position >= model.start + model.n) return null;
  return position - model.start;
}

/** How many tokens are masked, and have no number or an infinite one, so that the legend explains only what is to be seen. */
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
