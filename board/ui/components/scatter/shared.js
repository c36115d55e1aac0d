// Which rollout is chosen, from the component that nobody sees to the scatter of the page. Pure but for one object.

/** @import { Place, Shared } from "./types" */

/** @typedef {Record<symbol, Shared | undefined>} World */

const SHARED_SCATTER = Symbol.for("rl-logging-board.scatter");

/**
 * @param {World} [world]
 * @returns {Shared}
 */
export function sharedChoice(world = /** @type {World} */ (/** @type {unknown} */ (globalThis))) {
  const state = world[SHARED_SCATTER] ?? { chosen: null, listeners: new Set() };
  world[SHARED_SCATTER] = state;
  return state;
}

/**
 * @param {Shared} state
 * @param {Place | null} place
 */
export function setChosen(state, place) {
  state.chosen = place;
  for (const listener of state.listeners) listener();
}
