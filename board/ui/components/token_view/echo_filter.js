// Where a choice made on the server meets the view it is for. Pure but for one map shared by the two components of a page.

import { pinsOf, samePins } from "./pins.js";

/** @import { Choice, Meeting, ServerChoice } from "./payload_types" */

/** @typedef {Record<symbol, Map<string, Meeting> | undefined>} World */

const SHARED = Symbol.for("rl-logging-board.token-view");

/**
 * The meeting place of one view: {choice, listener}. The two sides may arrive in either order.
 * @param {string} key
 * @param {World} [world]
 * @returns {Meeting}
 */
export function meetingPlace(key, world = /** @type {World} */ (/** @type {unknown} */ (globalThis))) {
  const meetings = world[SHARED] ?? new Map();
  world[SHARED] = meetings;
  if (!meetings.has(key)) meetings.set(key, { choice: null, listener: null });
  return meetings.get(key);
}

/**
 * Leave the server's choice for the view, and tell it at once if it is there, and whether the same was said last time.
 * @param {Meeting} meeting
 * @param {ServerChoice} choice
 */
export function offer(meeting, choice) {
  const repeated = JSON.stringify(meeting.choice) === JSON.stringify(choice);
  meeting.choice = choice;
  meeting.listener?.(choice, repeated);
}

/**
 * Tell an echo from news. The view shows a reader's choice at once and reports it; the server later sends the same choice back, perhaps
 * after the reader has moved on. `pending` holds what was reported and not heard of yet, oldest first. What is `repeated` is no news:
 * Streamlit draws a component again with its old data while the script runs that answers the reader.
 * Returns {pending, apply}: what is still unanswered, and whether to show `incoming`.
 * @param {Choice[]} pending
 * @param {Choice} incoming
 * @param {boolean} [repeated]
 * @returns {{ pending: Choice[]; apply: boolean }}
 */
export function settle(pending, incoming, repeated = false) {
  const pins = pinsOf(incoming);
  /**
   * @param {"scale" | "granularity" | "window"} name
   * @param {string | null | undefined} own
   */
  const agrees = (name, own) => (incoming[name] ?? own) === own;
  /** @param {Choice} choice */
  const same = (choice) =>
    choice.metric === incoming.metric &&
    samePins(pinsOf(choice), pins) &&
    agrees("scale", choice.scale) &&
    agrees("granularity", choice.granularity) &&
    agrees("window", choice.window);
  const echo = pending.findIndex(same);
  if (repeated) return { pending: echo < 0 ? pending : pending.slice(echo + 1), apply: false };
  const rest = echo < 0 ? [] : pending.slice(echo + 1);
  return { pending: rest, apply: rest.length === 0 };
}
