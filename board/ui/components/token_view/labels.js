// Where a segment begins in the text, and the line that stands for a folded one. Their words are drawn by CSS from an attribute, so that
// what is copied is the response's own text.

import { element } from "./dom.js";
import { foldText } from "./folding.js";
import { metricOf } from "./model.js";

/** @import { Model, Segment } from "./model_types" */
/** @import { SegmentSpan } from "./view_types" */

/**
 * A small name before the first token of a segment; a click folds it.
 * @param {Segment} segment
 * @returns {SegmentSpan}
 */
export function segmentLabel(segment) {
  const label = element("span", "tv-seg", {
    role: "button",
    "aria-label": `fold ${segment.label}`,
    "data-label": `▾ ${segment.label}`,
  });
  return Object.assign(label, { segment });
}

/**
 * The one line of a folded segment; a click unfolds it.
 * @param {Segment} segment
 * @param {Model} model
 * @returns {SegmentSpan}
 */
export function foldLine(segment, model) {
  const words = foldText(segment, model.counts, metricOf(model, "kl"));
  const line = element("span", "tv-fold", { role: "button", "aria-label": `unfold ${words}`, "data-label": `▸ ${words}` });
  return Object.assign(line, { segment });
}
