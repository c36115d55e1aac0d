// What all tables of a page share with the component that nobody sees: which row of each is chosen. And how wide the reader made columns.
// Pure but for one object.

/** @import { Shared } from "./types" */

/** @typedef {Record<symbol, Shared | undefined>} World */

const TABLES = Symbol.for("rl-logging-board.table");

/**
 * @param {World} [world]
 * @returns {Shared}
 */
export function sharedTables(world = /** @type {World} */ (/** @type {unknown} */ (globalThis))) {
  const state = world[TABLES] ?? { chosen: new Map(), widths: new Map(), listeners: new Set() };
  world[TABLES] = state;
  return state;
}

/**
 * @param {Shared} state
 * @param {string} key the table's
 * @param {number | null} row as sent
 */
export function setChosenRow(state, key, row) {
  state.chosen.set(key, row);
  for (const listener of state.listeners) listener(key);
}
