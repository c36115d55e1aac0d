// Which segments of the response are folded, and what stands in place of one. Pure; they arrive as [first, stop, depth, label].

import { short, whole } from "./format.js";

/** @import { Folding, Metric, Segment } from "./model_types" */
/** @import { ListedSegment } from "./payload_types" */

/**
 * The segments of a response, outer before inner, and which of them are folded. Nothing is folded at first.
 * @param {ListedSegment[]} listed
 * @returns {Folding}
 */
export function foldingOf(listed) {
  const segments = listed.map(([first, stop, depth, label], id) => ({ id, first, stop, depth, label }));
  const starts = new Map();
  for (const segment of segments) starts.set(segment.first, [...(starts.get(segment.first) ?? []), segment]);
  const folded = new Set();
  /** @type {Segment[] | null} */
  let hidden = null;
  /** @param {() => void} alter */
  const change = (alter) => {
    alter();
    hidden = null;
  };
  /** The outermost of what is folded, in the order of the response. */
  const folds = () => (hidden ??= outermost(segments.filter(({ id }) => folded.has(id))));
  /** @param {number} i */
  const hiding = (i) => folds().find(({ first, stop }) => first <= i && i < stop) ?? null;
  return {
    segments,
    folds,
    /** The folded segment that hides token `i`, or null. */
    hiding,
    /** Segments that begin at token `i`. */
    startingAt: (i) => starts.get(i) ?? [],
    /** The innermost segment of token `i`, or, where it is folded, the one that hides it; null outside all. */
    around: (i) => hiding(i) ?? segments.findLast(({ first, stop }) => first <= i && i < stop) ?? null,
    /** The first token after (direction 1) or before (-1) a fold, where `i` is in one; `i` elsewhere; -1 or n beyond the ends. */
    past(i, direction) {
      const fold = hiding(i);
      return fold === null ? i : direction > 0 ? fold.stop : fold.first - 1;
    },
    toggle: ({ id }) => change(() => folded.delete(id) || folded.add(id)),
    /** Unfolds everything if anything is folded, else folds everything. */
    toggleAll: () =>
      change(() => {
        if (folded.size > 0) folded.clear();
        else for (const { id } of segments) folded.add(id);
      }),
    /** Unfolds whatever hides token `i`. */
    open: (i) =>
      change(() => {
        for (const { id, first, stop } of segments) if (first <= i && i < stop) folded.delete(id);
      }),
  };
}

/**
 * What a folded segment says of itself: "think · 1,204 tokens · Σ kl 3.2"; `kl` is the metric of that name, or null.
 * @param {Segment} segment
 * @param {Uint8Array} counts
 * @param {Pick<Metric, "values"> | null} kl
 */
export function foldText({ first, stop, label }, counts, kl) {
  const tokens = `${whole(stop - first)} token${stop - first === 1 ? "" : "s"}`;
  let [sum, seen] = [0, 0];
  for (let i = first; kl !== null && i < stop; i += 1) {
    if (counts[i] === 0 || !Number.isFinite(kl.values[i])) continue;
    sum += kl.values[i];
    seen += 1;
  }
  return [label, tokens, ...(seen > 0 ? [`Σ kl ${short(sum)}`] : [])].join(" · ");
}

/**
 * @param {Segment[]} segments
 * @returns {Segment[]}
 */
function outermost(segments) {
  const outer = [];
  for (const segment of segments) if (outer.length === 0 || segment.first >= outer[outer.length - 1].stop) outer.push(segment);
  return outer;
}
