// Which token each pixel of the heatmap stands for, and where its axis has ticks. Pure arithmetic over places and widths.

/** @import { ZoomRange } from "./view_types" */

/** @typedef {{ position: number; x: number; left: number; right: number }} AxisLabel */

/** What a token is in one row: a number, an infinity, nothing, or masked (its number is a dummy). */
export const CELL = { masked: 0, missing: 1, number: 2, infinite: 3 };
/** Pixels between two numbers of the axis: at least, and from the start of one to the next about. */
const AXIS_GAP = 8;
const TICK_GAP = 72;

/**
 * Kind of every token's cell in one row.
 * @param {ArrayLike<number>} values
 * @param {ArrayLike<number>} counts
 */
export function cellsOf(values, counts) {
  const cells = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i += 1) cells[i] = cellOf(values[i], counts[i]);
  return cells;
}

/**
 * The token drawn in each of `width` pixel columns, the first being `offset` pixels into the row, at `scale` pixels per token;
 * -1 past the end. Where several tokens share a pixel the loudest is drawn, so that one spike among thousands stays visible.
 * @param {ArrayLike<number>} places
 * @param {ArrayLike<number>} cells
 * @param {number} offset
 * @param {number} scale
 * @param {number} width
 */
export function tokenColumns(places, cells, offset, scale, width) {
  const columns = new Int32Array(width).fill(-1);
  for (let x = 0; x < width; x += 1) {
    const first = Math.floor((offset + x) / scale);
    if (first >= places.length) break;
    const stop = Math.max(first + 1, Math.floor((offset + x + 1) / scale));
    columns[x] = loudest(places, cells, first, Math.min(stop, places.length));
  }
  return columns;
}

/**
 * The numbers under the heatmap, as {position, x, left}: positions counted from 1 that are 1, 2 or 5 times a power of ten, `x` the middle of
 * their token and `left` where their text begins, in pixels; the first in view has one where there is room. `start` is the position of the
 * first token of all, from 0, `widthOf(position)` the width of a text. No two texts come nearer to each other than AXIS_GAP.
 * @param {ZoomRange} zoomRange
 * @param {number} n
 * @param {number} start
 * @param {number} width
 * @param {(position: number) => number} widthOf
 * @returns {AxisLabel[]}
 */
export function axisLabels({ from, count }, n, start, width, widthOf) {
  const scale = width / count;
  const first = start + Math.floor(from) + 1;
  const last = start + Math.min(n, Math.ceil(from + count));
  /** @param {number} position */
  const label = (position) => {
    const x = (position - start - 0.5 - from) * scale;
    const wide = widthOf(position);
    return {
      position,
      x,
      left: Math.min(width - wide, Math.max(0, x - wide / 2)),
      right: Math.min(width, Math.max(wide, x + wide / 2)),
    };
  };
  const step = roundStep(Math.max(TICK_GAP, widthOf(last) + 2 * AXIS_GAP) / scale);
  const labels = [];
  for (let at = Math.max(step, Math.ceil(first / step) * step); at <= last; at += step) {
    const next = label(at);
    if (next.x >= 0 && next.x <= width && clear(labels[labels.length - 1], next)) labels.push(next);
  }
  const opening = label(first);
  const apart = labels.length === 0 || (labels[0].position - first > step / 2 && clear(opening, labels[0]));
  return opening.x >= 0 && apart ? [opening, ...labels] : labels;
}

/**
 * @param {AxisLabel | undefined} before
 * @param {AxisLabel} next
 */
function clear(before, next) {
  return before === undefined || before.right + AXIS_GAP <= next.left;
}

/**
 * The least of 1, 2 or 5 times a power of ten that is not below `least`.
 * @param {number} least
 */
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5].map((times) => times * power).find((size) => size >= least) ?? 10 * power;
}

/**
 * @param {number} value
 * @param {number} counts
 */
function cellOf(value, counts) {
  if (counts === 0) return CELL.masked;
  if (Number.isNaN(value)) return CELL.missing;
  return Number.isFinite(value) ? CELL.number : CELL.infinite;
}

/**
 * @param {ArrayLike<number>} places
 * @param {ArrayLike<number>} cells
 * @param {number} first
 * @param {number} stop
 */
function loudest(places, cells, first, stop) {
  let best = first;
  for (let i = first + 1; i < stop; i += 1) {
    if (cells[i] > cells[best] || (cells[i] === cells[best] && Math.abs(places[i]) > Math.abs(places[best]))) best = i;
  }
  return best;
}
