// Which tokens are pinned: positions in the whole response, in the order they were pinned; the last one is the pin that the page follows. Pure.

/** @import { Choice } from "./payload_types" */

/** More columns than this cannot be compared at a glance. */
export const MOST_PINS = 6;

/**
 * The pins after a click on a token. Alone, the click leaves only that token pinned, or none if it was the only one; with `add` the token
 * joins the others, or leaves them.
 * @param {number[]} pins
 * @param {number} position
 * @param {boolean} add
 */
export function pinsAfter(pins, position, add) {
  if (!add) return pins.length === 1 && pins[0] === position ? [] : [position];
  if (pins.includes(position)) return pins.filter((pin) => pin !== position);
  return pins.length < MOST_PINS ? [...pins, position] : pins;
}

/**
 * The pins of a choice as the server and the view exchange it: {pinned, others}.
 * @param {Pick<Choice, "pinned" | "others">} given
 * @returns {number[]}
 */
export function pinsOf({ pinned, others }) {
  return pinned === null ? [] : [...(others ?? []), pinned];
}

/**
 * The other way: the last pin and those before it.
 * @param {number[]} pins
 */
export function choiceOf(pins) {
  return { pinned: pins.at(-1) ?? null, others: pins.slice(0, -1) };
}

/**
 * Whether two lists of pins are the same.
 * @param {number[]} one
 * @param {number[]} other
 */
export function samePins(one, other) {
  return one.length === other.length && one.every((pin, i) => pin === other[i]);
}
