// Where a choice made on the server meets the view it is for. Pure but for one map shared by the two components of a page.

import { pinsOf, samePins } from "./pins.js";

const SHARED = Symbol.for("rl-logging-board.token-view");

/** The meeting place of one view: {choice, listener}. The two sides may arrive in either order. */
export function meetingPlace(key, world = globalThis) {
  world[SHARED] ??= new Map();
  if (!world[SHARED].has(key)) world[SHARED].set(key, { choice: null, listener: null });
  return world[SHARED].get(key);
}

/** Leave the server's choice for the view, and tell it at once if it is there. */
export function offer(place, choice) {
  place.choice = choice;
  place.listener?.(choice);
}

/**
 * Tell an echo from news. The view shows a reader's choice at once and reports it; the server later sends the same choice back, perhaps
 * after the reader has moved on. `pending` holds what was reported and not heard of yet, oldest first.
 * Returns {pending, apply}: what is still unanswered, and whether to show `incoming`.
 */
export function settle(pending, incoming) {
  const pins = pinsOf(incoming);
  const same = (choice) =>
    choice.metric === incoming.metric && samePins(pinsOf(choice), pins) && (incoming.scale ?? choice.scale) === choice.scale
    && (incoming.granularity ?? choice.granularity) === choice.granularity;
  const echo = pending.findIndex(same);
  const rest = echo < 0 ? [] : pending.slice(echo + 1);
  return { pending: rest, apply: rest.length === 0 };
}
