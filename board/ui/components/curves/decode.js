// What the server sends → panels whose arrays lie within the numbers that were sent. Pure.

/** @import { Card, Curve, Meta, SentCurve, Slice } from "./types" */

/**
 * @param {Meta} meta
 * @param {Float64Array} numbers
 * @returns {Card[]}
 */
export function decode(meta, numbers) {
  return meta.cards.map((card) => ({
    ...card,
    axis: meta.axis.word,
    curves: card.curves.map((curve) => curveOf(curve, numbers)),
  }));
}

/**
 * @param {SentCurve} sent
 * @param {Float64Array} numbers
 * @returns {Curve}
 */
function curveOf(sent, numbers) {
  /** @param {Slice} slice */
  const array = ([first, length]) => numbers.subarray(first, first + length);
  const { steps, values, low, high, raw, count, ...rest } = sent;
  return {
    ...rest,
    steps: array(steps),
    values: array(values),
    ...(low && { low: array(low) }),
    ...(high && { high: array(high) }),
    ...(raw && { raw: array(raw) }),
    ...(count && { count: array(count) }),
  };
}
