// What the reader chooses, metric, pins and ranges: shown at once, reported to the server, and met with the server's own choice.

import { readColorRange, rescale, shownColorRange } from "./color_ranges.js";
import { colour, hearEnds, recolour, setColorRange, shownEnds } from "./coloring.js";
import { meetingPlace, settle } from "./echo_filter.js";
import { mark, reveal } from "./highlights.js";
import { localIndex, metricOf } from "./model.js";
import { choiceOf, MOST_PINS, pinsAfter, pinsOf } from "./pins.js";

/** @import { ServerChoice } from "./payload_types" */
/** @import { View } from "./view_types" */

const FULL = `${MOST_PINS} tokens are pinned; unpin one to pin another`;

/**
 * Reports the reader's choice; what is on screen never waits for the answer.
 * @param {View} view
 */
export function tell(view) {
  const choice = {
    metric: view.metric?.name ?? "",
    ...choiceOf(view.pins),
    scale: shownColorRange(view),
    granularity: view.granularity,
    window: view.plots.tell(),
  };
  view.pending.push(choice);
  view.report({ ...choice, stamp: view.model.stamp });
}

/**
 * `byKey` moves the keyboard to the metric's button as well.
 * @param {View} view
 * @param {string | null} name
 * @param {boolean} [byKey]
 */
export function choose(view, name, byKey = false) {
  const metric = metricOf(view.model, name);
  if (metric === null || metric === view.metric) return;
  view.metric = metric;
  recolour(view, byKey);
  tell(view);
}

/**
 * A pin from the heatmap or the keyboard brings its token into sight; one clicked in the text is there already. `add`: beside the others.
 * @param {View} view
 * @param {number} index
 * @param {boolean} bringIntoSight
 * @param {boolean} [add]
 */
export function togglePin(view, index, bringIntoSight, add = false) {
  const position = view.model.start + index;
  const pins = pinsAfter(view.pins, position, add);
  if (pins === view.pins) {
    view.parts.status.textContent = view.parts.live.textContent = FULL;
    return;
  }
  pin(view, pins);
  if (pins.includes(position) && bringIntoSight) reveal(view, index);
}

/**
 * @param {View} view
 * @param {number[]} pins
 */
export function pin(view, pins) {
  if (pins.length === 0 && view.pins.length === 0) return;
  Object.assign(view, { pins, pinned: pins.at(-1) ?? null });
  mark(view);
  tell(view);
}

/**
 * What colours another response before it is drawn, so that it is drawn once: the server's choice for it where that is here, else what
 * colours the one before.
 * @param {View} view
 */
export function expect(view) {
  const { choice } = meetingPlace(view.model.key);
  const asked = choice?.stamp === view.model.stamp ? choice : null;
  const [first = null] = view.model.metrics;
  view.metric = metricOf(view.model, asked?.metric) ?? metricOf(view.model, view.metric?.name) ?? first;
  view.granularity = asked?.granularity ?? view.granularity;
}

/**
 * Meets the server's choice, which may have come before the tokens or comes after them.
 * @param {View} view
 */
export function meet(view) {
  const { key, stamp } = view.model;
  if (view.meeting && view.meeting.listener === view.listener) view.meeting.listener = null;
  view.meeting = meetingPlace(key);
  view.listener = (choice, repeated = false) => {
    if (choice.stamp !== stamp) return;
    hearEnds(view, choice.ends);
    const { pending, apply } = settle(view.pending, choice, repeated);
    view.pending = pending;
    if (apply) obey(view, choice);
  };
  view.meeting.listener = view.listener;
  if (view.meeting.choice) view.listener(view.meeting.choice);
}

/**
 * @param {View} view
 * @param {ServerChoice} choice
 */
function obey(view, choice) {
  const moved = choice.pinned !== view.pinned;
  const metric = metricOf(view.model, choice.metric) ?? view.metric;
  const granularity = choice.granularity ?? view.granularity;
  const recoloured = metric !== view.metric || granularity !== view.granularity;
  Object.assign(view, { metric, granularity, pins: pinsOf(choice), pinned: choice.pinned });
  if (recoloured) rescale(view, shownEnds(view));
  if (choice.scale && choice.scale !== shownColorRange(view)) setColorRange(view, readColorRange(choice.scale));
  else if (recoloured) colour(view);
  mark(view);
  const opened = view.plots.open(choice.window);
  const local = localIndex(view.model, view.pinned);
  if (moved && local !== null) requestAnimationFrame(() => (opened === null ? reveal(view, local) : view.text.reveal(local)));
  else if (opened !== null) requestAnimationFrame(() => view.text.reveal(opened, true));
}
