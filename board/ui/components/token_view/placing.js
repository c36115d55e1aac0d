// Where the card of a token may hang: beside its line, above or below it, and never over what is being compared or read next. Pure.
// A box is {left, top, right, bottom} in pixels of the window.

import { clamp } from "./scale.js";

/** @import { Box, Size, Spot } from "./plain_types" */

const GAP = 8;
/** A row of places is judged by its height first: one far along the line is still beside the token. */
const ALONG = 0.1;

/**
 * The upper left corner {left, top} of a card of `size` {width, height} for the box `token`, within `bounds`; null where every place would cover a
 * box of `keep`. Behind the end of the `lines` it covers nothing, so that is tried first; then above the token, where what was read already
 * stands, but for `spare`; then below.
 * @param {Size} size
 * @param {Box} bounds
 * @param {Box} token
 * @param {{ keep: Box[]; lines?: Box[]; spare?: Box[] }} given
 * @returns {Spot | null}
 */
export function hangAt(size, bounds, token, { keep, lines = [], spare = [] }) {
  const room = { left: bounds.left, top: bounds.top, right: bounds.right - size.width, bottom: bounds.bottom - size.height };
  if (room.right < room.left || room.bottom < room.top) return null;
  /**
   * @param {Box[]} covered
   * @returns {(at: Spot) => boolean}
   */
  const free = (covered) => (at) => !covered.some((box) => overlaps(boxAt(at, size), box));
  const above = around(
    room,
    size,
    token,
    keep,
    [token, ...keep].map(({ top }) => Math.min(top, token.top) - GAP - size.height),
  );
  const below = around(
    room,
    size,
    token,
    keep,
    [token, ...keep].map(({ bottom }) => Math.max(bottom, token.bottom) + GAP),
  );
  const beside = behind(room, size, token, [...lines, ...keep, token], spare);
  const choices = [
    beside.filter(free([...keep, ...spare])),
    beside.filter(free(keep)),
    above.filter(free([...keep, ...spare])),
    below.filter(free(keep)),
    above.filter(free(keep)),
  ];
  return choices.find((places) => places.length > 0)?.[0] ?? null;
}

/**
 * Whether two boxes share any room.
 * @param {Box} one
 * @param {Box} other
 */
export function overlaps(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/**
 * @param {Spot} spot
 * @param {Size} size
 * @returns {Box}
 */
function boxAt({ left, top }, { width, height }) {
  return { left, top, right: left + width, bottom: top + height };
}

/**
 * Behind all lines that are as high as the card, the token's among them: from the token down, or as far up as leaves the `spare` free.
 * @param {Box} room
 * @param {Size} size
 * @param {Box} token
 * @param {Box[]} lines
 * @param {Box[]} spare
 * @returns {Spot[]}
 */
function behind(room, size, token, lines, spare) {
  const tops = [
    token.top,
    ...spare.map(({ top }) => top - GAP - size.height).filter((top) => top <= token.top && top + size.height >= token.bottom),
  ];
  return tops
    .map((wanted) => {
      const top = clamp(wanted, room.top, room.bottom);
      const beside = lines.filter((line) => line.top < top + size.height && line.bottom > top);
      return { top, left: Math.max(room.left, ...beside.map(({ right }) => right + GAP)) };
    })
    .filter(({ left }) => left <= room.right);
}

/**
 * All places at those heights that begin at the token, at an edge, or next to what is kept; the nearest first.
 * @param {Box} room
 * @param {Size} size
 * @param {Box} token
 * @param {Box[]} keep
 * @param {number[]} tops
 * @returns {Spot[]}
 */
function around(room, size, token, keep, tops) {
  const lefts = [token.left, room.left, room.right, ...keep.flatMap(({ left, right }) => [right + GAP, left - GAP - size.width])];
  const places = tops.flatMap((top) => lefts.map((left) => ({ left: clamp(left, room.left, room.right), top })));
  /** @param {Spot} spot */
  const far = ({ left, top }) => Math.abs(top - token.top) + ALONG * Math.abs(left - token.left);
  return places.filter(({ top }) => top >= room.top && top <= room.bottom).sort((one, other) => far(one) - far(other));
}
