// How a place on the axis is told: by its step, or by what else the curves go along. Pure.

import { stepText } from "./number_text.js";

/** @import { Panel } from "./types" */

/**
 * @param {Pick<Panel, "axis">} panel
 * @param {number} place
 */
export function placeText({ axis }, place) {
  return axis === "step" ? `step ${stepText(place)}` : `${stepText(Math.round(place))} ${axis}`;
}
