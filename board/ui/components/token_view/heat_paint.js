// What the heatmap's canvas shows: a coloured cell per token and metric, its number where there is room, positions beneath.

import { colorAt, css, inkOn } from "./color.js";
import { contextOf } from "./dom.js";
import { rangeText, short, whole } from "./format.js";
import { axisLabels, CELL, tokenColumns } from "./heat_layout.js";
import { pieces } from "./marks.js";
import { placeOn, scaleOfColumns } from "./scale.js";

/** @import { Metric, Palette } from "./model_types" */
/** @import { Rgb } from "./plain_types" */
/** @import { HeatParts, HeatRow, HeatState, Shades } from "./view_types" */

/** @typedef {HeatRow & { columns: Int32Array; shades: Shades }} PaintedRow */

const SPACE_BETWEEN = 2;
const SHADES = 128;
/** Milliseconds of one frame that rows of a long response may take; the rest waits for the next frame. */
const PATIENCE = 12;

/**
 * SHADES colours from the loud end below zero (diverging only) to the loud end above: as numbers for pixels, and a legible ink on each.
 * @param {Palette} colors
 * @param {Metric} metric
 * @param {Rgb} text
 * @returns {Shades}
 */
export function shadesOf(colors, metric, text) {
  const first = metric.scale === "diverging" ? -1 : 0;
  const fills = Array.from({ length: SHADES }, (_, i) => colorAt(colors, metric.scale, first + (i / (SHADES - 1)) * (1 - first)));
  return { pixels: Uint32Array.from(fills, packed), inks: fills.map((fill) => css(inkOn(fill, text))) };
}

/**
 * Draws everything; `again()` asks for another frame when there was too much for one.
 * @param {HeatParts} parts
 * @param {HeatState} state
 * @param {() => void} again
 */
export function paintHeat(parts, state, again) {
  const context = contextOf(parts.canvas);
  const { width, height } = parts.canvas;
  if (!state.colors || !state.model || state.width === 0 || width === 0 || height === 0) return;
  const ratio = width / state.width;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const ready = prepare(parts, state, ratio, width);
  state.rows.forEach((row, i) => {
    if (row.columns === null || row.shades === null) return;
    const top = Math.round((state.head + i * state.row) * ratio);
    const bottom = Math.round((state.head + (i + 1) * state.row - SPACE_BETWEEN) * ratio);
    paintRow(pixels, width, top, bottom, /** @type {PaintedRow} */ (row), state, ratio);
  });
  context.putImageData(image, 0, 0);
  context.save();
  context.scale(ratio, ratio);
  context.direction = "ltr";
  const { color, fontFamily } = getComputedStyle(parts.scroller);
  if (state.head > 0) writeCells(context, state, color, fontFamily);
  drawAxis(context, state, color, fontFamily);
  context.restore();
  if (!ready) again();
}

/** @param {Rgb} color */
function packed([r, g, b]) {
  return ((255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
}

/**
 * Works out what each row shows, for a few milliseconds; false when rows are left for the next frame.
 * @param {HeatParts} parts
 * @param {HeatState} state
 * @param {number} ratio
 * @param {number} width
 */
function prepare(parts, state, ratio, width) {
  const until = performance.now() + PATIENCE;
  const scale = state.scale * ratio;
  const offset = state.zoomRange.from * scale;
  const wanted = `${offset} ${scale} ${width}`;
  for (const [i, row] of state.rows.entries()) {
    if (row.drawn === wanted) continue;
    if (performance.now() > until) return false;
    const { metric } = row;
    row.columns = tokenColumns(metric.loudness, metric.cells, offset, scale, width);
    takeEnds(row, scale, state.model.n);
    row.drawn = wanted;
    const rangeLabel = parts.labels.children[i].lastElementChild;
    const words = rangeText(row.ends ?? metric.ends, metric.side !== null);
    if (rangeLabel && rangeLabel.textContent !== words) rangeLabel.textContent = words;
  }
  sayColumns(parts.note, state, scale);
  return true;
}

/**
 * Where tokens share pixels, the quantile range is that of the drawn ones, over the whole response, so that moving changes no colour.
 * @param {HeatRow} row
 * @param {number} scale
 * @param {number} n
 */
function takeEnds(row, scale, n) {
  const { metric } = row;
  const at = scale < 1 && metric.kind === "q" && metric.finite > 0 ? String(scale) : "no";
  if (row.endsAt === at) return;
  row.endsAt = at;
  const all = () => tokenColumns(metric.loudness, metric.cells, 0, scale, Math.ceil(n * scale));
  row.ends = at === "no" ? null : scaleOfColumns(metric.ends, metric.toned, all());
}

/**
 * @param {HTMLElement} note
 * @param {HeatState} state
 * @param {number} scale
 */
function sayColumns(note, state, scale) {
  const shared = Math.round(1 / scale);
  const own = state.rows.some((row) => row.ends !== null) ? "; colours span the 1 % to 99 % quantile of what is drawn" : "";
  const words = shared < 2 ? "" : `a column is the loudest of about ${whole(shared)} tokens${own}`;
  if (note.textContent !== words) note.textContent = words;
}

/**
 * @param {Uint32Array} pixels
 * @param {number} width
 * @param {number} top
 * @param {number} bottom
 * @param {PaintedRow} row
 * @param {HeatState} state
 * @param {number} ratio
 */
function paintRow(pixels, width, top, bottom, row, state, ratio) {
  const { metric, shades, columns } = row;
  const { cells } = metric;
  const hatch = packed(state.faint);
  const ink = packed(state.ink);
  const seam = state.scale >= 8;
  for (let x = 0; x < width; x += 1) {
    const token = columns[x];
    if (token < 0 || (seam && x > 0 && columns[x - 1] !== token)) continue;
    const cell = cells[token];
    if (cell <= CELL.missing) {
      hatchColumn(pixels, width, x, top, bottom, cell, hatch, ratio);
      continue;
    }
    const shade = shades.pixels[shadeIndex(row, token)];
    for (let y = top; y < bottom; y += 1) pixels[y * width + x] = shade;
    // An infinity has no place on a scale: the loud end, with a bar in the ink of the text across its middle.
    const middle = Math.round((top + bottom) / 2);
    if (cell === CELL.infinite)
      for (let y = middle - Math.round(2 * ratio); y < middle + ratio; y += 1) pixels[y * width + x] = ink;
  }
}

/**
 * @param {HeatRow} row
 * @param {number} token
 */
function shadeIndex({ metric, ends }, token) {
  const at = ends === null ? metric.places[token] : placeOn(ends, metric.toned[token]);
  return Math.round((metric.scale === "diverging" ? (at + 1) / 2 : at) * (SHADES - 1));
}

/**
 * Missing: diagonal hatch. Masked: a dotted middle line. Both leave the page's own colour, and neither looks like a quiet zero.
 * @param {Uint32Array} pixels
 * @param {number} width
 * @param {number} x
 * @param {number} top
 * @param {number} bottom
 * @param {number} cell
 * @param {number} color
 * @param {number} ratio
 */
function hatchColumn(pixels, width, x, top, bottom, cell, color, ratio) {
  const period = Math.round(5 * ratio);
  if (cell === CELL.masked) {
    if (Math.floor(x / ratio) % 3 === 0) pixels[Math.round((top + bottom) / 2) * width + x] = color;
    return;
  }
  for (let y = top; y < bottom; y += 1) if ((x + y) % period < ratio) pixels[y * width + x] = color;
}

/**
 * The text of each token above its column, and every number that counts in its cell.
 * @param {CanvasRenderingContext2D} context
 * @param {HeatState} state
 * @param {string} color
 * @param {string} fontFamily
 */
function writeCells(context, state, color, fontFamily) {
  const { from, count } = state.zoomRange;
  const room = state.scale - 6;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let i = Math.max(0, Math.floor(from)); i < Math.min(state.model.n, from + count); i += 1) {
    const x = (i + 0.5 - from) * state.scale;
    context.font = `12px ${fontFamily}`;
    context.fillStyle = color;
    context.fillText(fitting(context, visibleText(state.model.drawn(i)), room), x, state.head / 2 - 1);
    context.font = `11px ${fontFamily}`;
    state.rows.forEach((row, at) => {
      if (row.shades === null || row.metric.cells[i] !== CELL.number) return;
      context.fillStyle = row.shades.inks[shadeIndex(row, i)];
      const y = state.head + at * state.row + (state.row - SPACE_BETWEEN) / 2;
      context.fillText(short(row.metric.values[i]), x, y + 0.5, room + 3);
    });
  }
}

/**
 * Hidden characters by their marks, so that none of them turns or hides its neighbours.
 * @param {string} text
 */
function visibleText(text) {
  return pieces(text.slice(0, 40))
    .map((piece) => piece.text ?? piece.mark)
    .join("")
    .trim();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room
 */
function fitting(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const characters = [...text];
  while (characters.length > 0 && context.measureText(`${characters.join("")}…`).width > room) characters.pop();
  return `${characters.join("")}…`;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {HeatState} state
 * @param {string} color
 * @param {string} fontFamily
 */
function drawAxis(context, state, color, fontFamily) {
  const { model, width, rows, row, head, height, zoomRange } = state;
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.fillStyle = color;
  context.globalAlpha = 0.65;
  context.font = `11px ${fontFamily}`;
  /** @param {number} position */
  const widthOf = (position) => context.measureText(whole(position)).width;
  for (const { position, x, left } of axisLabels(zoomRange, model.n, model.start, width, widthOf)) {
    context.fillRect(Math.round(x), head + rows.length * row, 1, 3);
    context.fillText(whole(position), left, height - 1);
  }
}
