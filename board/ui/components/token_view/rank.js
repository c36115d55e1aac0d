// Where a token stands among the others by one metric: "3rd of 812", the loudest first. Pure.

import { whole } from "./format.js";

/** @import { Metric, ShownMetric } from "./model_types" */

/** Ranks of one metric; only tokens that count and have a number take part, ties share the better rank. `metric` has {values, scale, loud}. */
export class Ranking {
  /** @type {Float32Array} */
  #values;
  /** @type {Uint8Array} */
  #counts;
  /** @type {boolean} */
  #diverging;
  /** @type {number} */
  #sign;
  /** @type {Float32Array | null} */
  #sorted = null;

  /**
   * @param {Pick<ShownMetric, "values" | "scale" | "loud">} metric
   * @param {Uint8Array} counts
   */
  constructor({ values, scale, loud }, counts) {
    this.#values = values;
    this.#counts = counts;
    this.#diverging = scale === "diverging";
    this.#sign = loud === "low" ? -1 : 1;
  }

  /** Whether the tokens are sorted, so that a rank is a search instead of a count. */
  get ready() {
    return this.#sorted !== null;
  }

  /** Sorts the tokens: a tenth of a second for 1,000,000, so it is for an idle moment. */
  prepare() {
    if (this.ready) return;
    const keys = new Float32Array(this.#values.length);
    let n = 0;
    for (let i = 0; i < keys.length; i += 1) if (this.#takesPart(i)) keys[n++] = this.#keyOf(i);
    this.#sorted = keys.slice(0, n).sort();
  }

  /**
   * {rank, of}: the rank of token `i`, 1 the loudest, among so many; null for one that takes no part.
   * @param {number} i
   */
  of(i) {
    if (!this.#takesPart(i)) return null;
    const key = this.#keyOf(i);
    return this.#sorted === null ? this.#counted(key) : searched(this.#sorted, key);
  }

  /**
   * How loud a token is, for comparing only.
   * @param {number} i
   */
  #keyOf(i) {
    return this.#diverging ? Math.abs(this.#values[i]) : this.#sign * this.#values[i];
  }

  /** @param {number} i */
  #takesPart(i) {
    return this.#counts[i] === 1 && !Number.isNaN(this.#values[i]);
  }

  /**
   * One plain loop: this runs in the first hovers over a long response, before any of it is compiled.
   * @param {number} key
   */
  #counted(key) {
    const [values, counts, diverging, sign] = [this.#values, this.#counts, this.#diverging, this.#sign];
    let [louder, of] = [0, 0];
    for (let i = 0; i < values.length; i += 1) {
      const value = diverging ? Math.abs(values[i]) : sign * values[i];
      // biome-ignore lint/suspicious/noSelfCompare: NaN, without a call for every token
      if (counts[i] !== 1 || value !== value) continue;
      of += 1;
      if (value > key) louder += 1;
    }
    return { rank: louder + 1, of };
  }
}

/**
 * @param {Float32Array} sorted
 * @param {number} key
 */
function searched(sorted, key) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] > key) high = middle;
    else low = middle + 1;
  }
  return { rank: sorted.length - low + 1, of: sorted.length };
}

/**
 * Sorts the metrics one at a time, each in a moment of its own: `later(work)` runs work when the browser is idle.
 * @param {Pick<Metric, "ranking">[]} metrics
 * @param {(work: () => void) => void} later
 */
export function prepareRanks(metrics, later) {
  const next = metrics.find(({ ranking }) => !ranking.ready);
  if (next === undefined) return;
  later(() => {
    next.ranking.prepare();
    prepareRanks(metrics, later);
  });
}

/**
 * "1st", "22nd", "113th", "1,003rd".
 * @param {number} rank
 */
export function ordinal(rank) {
  const last = rank % 10;
  const teen = Math.floor(rank / 10) % 10 === 1;
  const ending = teen ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[last] ?? "th");
  return `${whole(rank)}${ending}`;
}
