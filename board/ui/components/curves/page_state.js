// What all curves of a page share, in however many components they are drawn: the chosen step, the crosshair, the zoom. Pure but for one object.

/** @import { Choice, PageState, Range } from "./types" */

/** @typedef {Record<symbol, PageState | undefined>} World */

const SHARED = Symbol.for("rl-logging-board.curves");

/**
 * @param {World} [world]
 * @returns {PageState}
 */
export function pageState(world = /** @type {World} */ (/** @type {unknown} */ (globalThis))) {
  const state = world[SHARED] ?? { choice: null, zoom: null, asked: [], at: null, listeners: new Map(), margins: new Map() };
  world[SHARED] = state;
  return state;
}

/**
 * What the server chose. A zoom that it says again is no news, nor is one that the reader asked for: he may have zoomed on since.
 * @param {PageState} state
 * @param {Choice} choice
 */
export function choose(state, choice) {
  const before = state.choice;
  state.choice = choice;
  if (before === null || !same(before.zoom, choice.zoom)) {
    const echo = state.asked.findIndex((asked) => same(asked, choice.zoom));
    state.asked.splice(0, echo < 0 ? state.asked.length : echo + 1);
    if (!state.asked.length) setZoom(state, choice.zoom);
  }
  tell(state, "choice");
}

/**
 * The reader zooms; true where that is news for the server.
 * @param {PageState} state
 * @param {Range | null} zoom
 */
export function askZoom(state, zoom) {
  if (same(state.zoom, zoom)) return false;
  state.asked.push(zoom);
  setZoom(state, zoom);
  return true;
}

/**
 * @param {PageState} state
 * @param {Range | null} zoom
 */
export function setZoom(state, zoom) {
  if (same(state.zoom, zoom)) return;
  state.zoom = zoom;
  tell(state, "zoom");
}

/**
 * @param {PageState} state
 * @param {number | null} at
 */
export function point(state, at) {
  if (state.at === at) return;
  state.at = at;
  tell(state, "at");
}

/**
 * The pixels that names at line ends need on this page, once `who` needs so many.
 * @param {PageState} state
 * @param {object} who
 * @param {number} pixels
 */
export function claim(state, who, pixels) {
  const before = margin(state);
  state.margins.set(who, pixels);
  if (margin(state) !== before) tell(state, "margin");
}

/** @param {PageState} state */
export function margin(state) {
  return Math.max(0, ...state.margins.values());
}

/**
 * @param {PageState} state
 * @param {object} who
 */
export function leave(state, who) {
  state.listeners.delete(who);
  state.margins.delete(who);
}

/**
 * @param {PageState} state
 * @param {"choice" | "zoom" | "at" | "margin"} what
 */
function tell(state, what) {
  for (const listener of state.listeners.values()) listener(what);
}

/**
 * @param {Range | null} one
 * @param {Range | null} other
 */
function same(one, other) {
  return one === other || (one !== null && other !== null && one[0] === other[0] && one[1] === other[1]);
}
