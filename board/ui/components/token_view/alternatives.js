// What else could have been sampled at a token, likeliest first, as `alternatives.py` sends it. Pure.

import { tokenTexts } from "./tokens.js";

/** @import { Alternatives } from "./model_types" */
/** @import { ArrowTable } from "./payload_types" */

/**
 * The reader of one rollout's alternatives: `at(i)` as below. Null when the row has none. `texts` and `tokens` are Arrow tables.
 * @param {ArrowTable | undefined} texts
 * @param {ArrowTable<Int32Array> | undefined} tokens
 * @returns {Alternatives | null}
 */
export function alternativesOf(texts, tokens) {
  if (texts === undefined || tokens === undefined || tokens.numRows === 0) return null;
  /**
   * @template Numbers
   * @param {ArrowTable<Numbers>} table
   * @param {number} i
   */
  const column = (table, i) => table.getChildAt(i).toArray();
  const [ends, listed, sampled] = [0, 1, 2].map((i) => column(tokens, i));
  const many = texts.numRows;
  const names = tokenTexts(many === 0 ? null : texts.getChildAt(0), { n: many, odd: {} });
  const logprobs = many === 0 ? [] : column(texts, 1);
  return {
    /** {listed, sampled, likeliest}: how many the row lists, the place among them (from 0) of the sampled one, -1 for none, and the first few. */
    at(i) {
      const first = i === 0 ? 0 : ends[i - 1];
      const likeliest = Array.from({ length: ends[i] - first }, (_, k) => {
        const logprob = logprobs[first + k];
        return { token: names.at(first + k), logprob, probability: Math.exp(logprob), sampled: k === sampled[i] };
      });
      return { listed: listed[i], sampled: sampled[i], likeliest };
    },
  };
}
