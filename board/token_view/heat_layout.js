// Which token each pixel of the heatmap stands for, and where its axis has ticks. Pure arithmetic over places and widths.

/** What a token is in one row: a number, an infinity, nothing, or masked (its number is a dummy). */
export const CELL = { masked: 0, missing: 1, number: 2, infinite: 3 };

/** Kind of every token's cell in one row. */
export function cellsOf(values, counts) {
  const cells = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i += 1) cells[i] = cellOf(values[i], counts[i]);
  return cells;
}

/**
 * The token drawn in each of `width` pixel columns, the first being `offset` pixels into the row, at `scale` pixels per token;
 * -1 past the end. Where several tokens share a pixel the loudest is drawn, so that one spike among thousands stays visible.
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

/** Pixels per token: the chosen zoom, but never less than what fills the width, so that a short response is not a thin strip. */
export function pixelsPerToken(n, width, zoom, most) {
  const fit = n === 0 ? 1 : width / n;
  return Math.max(Math.min(fit * zoom, Math.max(most, fit)), fit);
}

/**
 * Positions (from 1) that get a number under the heatmap: 1, 2 or 5 times a power of ten, about `gap` pixels apart;
 * the first in view has one where there is room. */
export function ticksOf(first, last, scale, gap) {
  const least = gap / scale;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= least) ?? 10 * power;
  const ticks = [];
  for (let at = Math.max(step, Math.ceil(first / step) * step); at <= last; at += step) ticks.push(at);
  return ticks.length === 0 || ticks[0] - first >= 0.8 * least ? [first, ...ticks] : ticks;
}

function cellOf(value, counts) {
  if (counts === 0) return CELL.masked;
  if (Number.isNaN(value)) return CELL.missing;
  return Number.isFinite(value) ? CELL.number : CELL.infinite;
}

function loudest(places, cells, first, stop) {
  let best = first;
  for (let i = first + 1; i < stop; i += 1) {
    if (cells[i] > cells[best] || (cells[i] === cells[best] && Math.abs(places[i]) > Math.abs(places[best]))) best = i;
  }
  return best;
}
