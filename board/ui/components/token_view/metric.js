// A metric with its scale, places and cells, of the tokens or as the mean over units of them. Pure.
//
// A long response has many metrics, and few are looked at: nothing is computed before it is read.

import { cellsOf } from "./heat_layout.js";
import { Ranking } from "./rank.js";
import { placeOn, placesOf, scaleOf, sided } from "./scale.js";
import { extremesOf, loudnessOf } from "./search.js";
import { spread, unitMeans } from "./units.js";

/** @import { ColorRange, Metric, Scale } from "./model_types" */
/** @import { Description } from "./payload_types" */

/** What is said of a metric, beside its numbers. */
class Described {
  /**
   * @param {Description} description
   * @param {Float32Array} values
   */
  constructor({ name, unit, meaning, scale, loud, range, poles }, values) {
    this.name = name;
    this.unit = unit;
    this.meaning = meaning;
    this.scale = scale;
    this.loud = loud;
    this.range = range;
    this.poles = poles;
    this.values = values;
  }
}

/** One metric of the tokens. */
export class TokenMetric extends Described {
  /** @type {Uint8Array} */
  #counts;
  /** @type {Float32Array | null} */
  #toned = null;
  /** @type {Scale | null} */
  #scale = null;
  /** @type {Float32Array | null} */
  #places = null;
  /** @type {Uint8Array | null} */
  #cells = null;
  /** @type {Float32Array | null} */
  #loudness = null;
  /** @type {number[] | null} */
  #extremes = null;
  /** @type {Ranking | null} */
  #ranking = null;
  /** @type {ColorRange | undefined} */
  #colorRange = undefined;

  /**
   * `side` are numbers whose sign says on which side of zero each of the `values`, a size, is coloured; null: their own.
   * @param {Description} description
   * @param {Float32Array} values
   * @param {Uint8Array} counts
   * @param {Float32Array | null} [side]
   */
  constructor(description, values, counts, side = null) {
    super(description, values);
    this.side = side;
    this.#counts = counts;
  }

  /** The numbers as they are coloured: with their side. */
  get toned() {
    this.#toned ??= this.side === null ? this.values : sided(this.values, this.side);
    return this.#toned;
  }

  get ends() {
    this.#scale ??= scaleOf(this.toned, this.#counts, this, this.#colorRange);
    return this.#scale;
  }

  get colorRange() {
    return this.#colorRange;
  }

  /**
   * Takes another range; numbers, cells and loudness stay what they are.
   * @param {ColorRange | undefined} colorRange
   */
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

  /**
   * Where token `i` lies on the scale; the first screen needs a few hundred of these, and is not to wait for all.
   * @param {number} i
   */
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
export class MeanMetric extends Described {
  /** @type {TokenMetric} */
  #units;
  /** @type {number[]} */
  #starts;
  /** @type {Uint8Array} */
  #counts;
  /** @type {Float32Array | null} */
  #toned = null;
  /** @type {Float32Array | null} */
  #places = null;
  /** @type {Uint8Array | null} */
  #cells = null;
  /** @type {Float32Array | null} */
  #loudness = null;

  /**
   * `starts` are the first tokens of the units.
   * @param {Metric} metric
   * @param {Uint8Array} counts
   * @param {number[]} starts
   */
  constructor(metric, counts, starts) {
    const mean = unitMeans(metric.values, counts, starts);
    super(metric, spread(mean.means, starts, metric.values.length));
    this.side = metric.side && unitMeans(metric.side, counts, starts).means;
    this.#units = new TokenMetric(metric, mean.means, mean.counts, this.side);
    this.#starts = starts;
    this.#counts = counts;
  }

  /**
   * Takes the range that the metric itself has been given.
   * @param {Metric} metric
   */
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

  /** @param {number} i */
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
