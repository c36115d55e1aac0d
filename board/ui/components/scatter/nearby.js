// Which dot is under the pointer: dots in a grid of squares, so that a hundred thousand need not be looked at. Pure.

/** @import { Dots, Plane } from "./types" */

const SQUARE = 12; // pixels

/**
 * @param {Dots} dots
 * @param {Plane} plane
 * @returns {(x: number, y: number, reach: number) => number | null} the dot nearest to these pixels within so many of them
 */
export function gridOf(dots, { left, top, width, height }) {
  const [across, down] = [Math.ceil(width / SQUARE) + 1, Math.ceil(height / SQUARE) + 1];
  const squareOf = (/** @type {number} */ at) =>
    Math.floor((dots.x[at] * width) / SQUARE) + across * Math.floor(((1 - dots.y[at]) * height) / SQUARE);
  const firsts = new Uint32Array(across * down + 1);
  for (let at = 0; at < dots.size; at += 1) firsts[squareOf(at) + 1] += 1;
  for (let square = 0; square < across * down; square += 1) firsts[square + 1] += firsts[square];
  const order = new Uint32Array(dots.size);
  const free = firsts.slice();
  for (let at = 0; at < dots.size; at += 1) {
    order[free[squareOf(at)]] = at;
    free[squareOf(at)] += 1;
  }
  return (x, y, reach) => {
    const [right, below] = [x - left, y - top];
    /** @type {number | null} */
    let best = null;
    let least = reach * reach;
    const clamp = (/** @type {number} */ value, /** @type {number} */ most) => Math.min(most, Math.max(0, value));
    const from = (/** @type {number} */ value, /** @type {number} */ most) => clamp(Math.floor((value - reach) / SQUARE), most);
    const to = (/** @type {number} */ value, /** @type {number} */ most) => clamp(Math.floor((value + reach) / SQUARE), most);
    for (let row = from(below, down - 1); row <= to(below, down - 1); row += 1)
      for (let column = from(right, across - 1); column <= to(right, across - 1); column += 1)
        for (let one = firsts[row * across + column]; one < firsts[row * across + column + 1]; one += 1) {
          const at = order[one];
          const apart = (dots.x[at] * width - right) ** 2 + ((1 - dots.y[at]) * height - below) ** 2;
          if (apart <= least) [best, least] = [at, apart];
        }
    return best;
  };
}
