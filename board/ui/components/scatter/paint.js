// Draws the scatter on its two canvases: axes and dots once, and over them what the pointer does.

import { parseColor } from "../token_view/color.js";
import { contextOf } from "../token_view/dom.js";
import { pixelsOf, ticksOf } from "./plane.js";
import { stamped } from "./stamp.js";

/** @import { AxisMeta, ColorMeta, Dots, Drag, Look, Meta, Place, Plane } from "./types" */

const SHADES = 32;
/** Cividis (Nuñez, Anderton and Renslow 2018), nine stops of it. */
const CIVIDIS = [
  [0, 34, 78],
  [18, 53, 112],
  [59, 73, 108],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 156, 116],
  [195, 179, 105],
  [254, 232, 56],
];
/** Below zero, none and above, as everywhere on the board. */
const DIVERGING = [
  [63, 127, 219],
  [150, 155, 160],
  [217, 115, 13],
];
/** What of the scale is seen on a light page, and on a dark one. */
const SEEN = { light: [0, 0.82], dark: [0.28, 1] };
const LABEL = 12;
const FEW = 2_000; // rollouts that are round dots
const MOST_WIDE = 3; // times as wide as one dot are very many at one place

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @returns {CanvasRenderingContext2D} wiped
 */
export function wiped(canvas, width, height) {
  const scale = globalThis.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const context = contextOf(canvas);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Plane} plane
 * @param {Meta} meta
 * @param {Look} look
 */
export function paintAxes(context, plane, { x, y, diagonal }, look) {
  const [right, bottom] = [plane.left + plane.width, plane.top + plane.height];
  context.font = `11px ${look.font}`;
  context.fillStyle = look.soft;
  context.strokeStyle = look.soft;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const { at, text } of ticksOf(y, plane.height / 40)) {
    const level = pixelsOf(plane, [0, at])[1];
    context.fillText(text, plane.left - 6, level);
    rule(context, plane.left, level, right, level);
  }
  context.textBaseline = "top";
  context.textAlign = "center";
  for (const { at, text } of ticksOf(x, plane.width / 80)) {
    const place = pixelsOf(plane, [at, 0])[0];
    context.fillText(text, place, bottom + 6);
    rule(context, place, bottom, place, bottom + 4);
  }
  context.fillStyle = look.text;
  context.font = `${LABEL}px ${look.font}`;
  context.fillText(named(x), plane.left + plane.width / 2, bottom + 22);
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.fillText(named(y), 4, plane.top - 8);
  if (diagonal) paintDiagonal(context, plane, diagonal);
}

/**
 * Where both numbers are equal.
 * @param {CanvasRenderingContext2D} context
 * @param {Plane} plane
 * @param {[Place, Place]} ends
 */
function paintDiagonal(context, plane, ends) {
  context.globalAlpha = 0.5;
  context.setLineDash([5, 4]);
  context.beginPath();
  for (const end of ends) context.lineTo(...pixelsOf(plane, end));
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** @param {AxisMeta} axis */
function named({ label, log }) {
  return log ? `${label}, logarithmic` : label;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
function rule(context, x0, y0, x1, y1) {
  context.globalAlpha = 0.13;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  context.globalAlpha = 1;
}

/**
 * The colours of the third number from its low end to its high one.
 * @param {ColorMeta} color
 * @param {Look} look
 * @returns {string[]}
 */
export function shadesOfColor({ low, high, stops: given }, look) {
  const stops = given ? given.map((one) => parseColor(one) ?? [128, 128, 128]) : low < 0 && high > 0 ? DIVERGING : CIVIDIS;
  const [from, to] = stops === CIVIDIS ? SEEN[look.dark ? "dark" : "light"] : [0, 1];
  return Array.from({ length: SHADES }, (_, at) => {
    const place = (from + ((to - from) * at) / (SHADES - 1)) * (stops.length - 1);
    const below = Math.min(stops.length - 2, Math.floor(place));
    const parts = stops[below].map((part, rgb) => Math.round(part + (place - below) * (stops[below + 1][rgb] - part)));
    return `rgb(${parts.join(" ")})`;
  });
}

/**
 * The dots under the shade of each: those without the third number come first.
 * @param {Dots} dots
 * @param {ColorMeta | null} color
 * @returns {{ order: Uint32Array; firsts: Uint32Array }} of the shade s, from firsts[s + 1] on; from firsts[0] those without
 */
export function byShade(dots, color) {
  const [low, span] = color ? [color.low, color.high - color.low || 1] : [0, 1];
  const shades = Uint8Array.from(dots.color, (value) => {
    if (!color || Number.isNaN(value)) return 0;
    return 1 + Math.round(Math.min(1, Math.max(0, (value - low) / span)) * (SHADES - 1));
  });
  const firsts = new Uint32Array(SHADES + 2);
  for (const shade of shades) firsts[shade + 1] += 1;
  for (let shade = 0; shade <= SHADES; shade += 1) firsts[shade + 1] += firsts[shade];
  const order = new Uint32Array(dots.size);
  const free = firsts.slice();
  for (let at = 0; at < dots.size; at += 1) {
    order[free[shades[at]]] = at;
    free[shades[at]] += 1;
  }
  return { order, firsts };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Plane} plane
 * @param {Dots} dots
 * @param {Meta} meta
 * @param {Look} look
 */
export function paintDots(context, plane, dots, meta, look) {
  const shaded = byShade(dots, meta.color);
  const shades = [meta.color ? meta.inks.without : meta.inks.point, ...(meta.color ? shadesOfColor(meta.color, look) : [])];
  if (!dots.counts && dots.size > FEW) return paintMany(context, plane, dots, shaded, shades);
  const cells = meta.kind === "density" && dots.counts;
  const draw = cells ? cellPainter(context, plane, dots, meta, cells) : dotPainter(context, plane, dots);
  shades.forEach((shade, number) => {
    context.fillStyle = shade;
    for (let one = shaded.firsts[number]; one < shaded.firsts[number + 1]; one += 1) draw(shaded.order[one]);
  });
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Plane} plane
 * @param {Dots} dots
 * @param {ReturnType<typeof byShade>} shaded
 * @param {string[]} shades
 */
function paintMany({ canvas }, plane, dots, shaded, shades) {
  const side = dots.size > 20_000 ? 2 : dots.size > 6_000 ? 3 : 4;
  const scale = globalThis.devicePixelRatio || 1;
  const how = {
    width: canvas.width / scale,
    height: canvas.height / scale,
    scale,
    side,
    alpha: side === 2 ? 0.45 : side === 3 ? 0.65 : 0.8,
  };
  const sheet = new OffscreenCanvas(canvas.width, canvas.height);
  const pixels = new ImageData(stamped(dots, shaded, shades, plane, how), canvas.width);
  sheet.getContext("2d")?.putImageData(pixels, 0, 0);
  contextOf(canvas).drawImage(sheet, 0, 0, how.width, how.height);
}

/**
 * Few rollouts are dots, as wide as many lie there.
 * @param {CanvasRenderingContext2D} context
 * @param {Plane} plane
 * @param {Dots} dots
 */
function dotPainter(context, { left, top, width, height }, { x, y, size, counts }) {
  context.globalAlpha = 0.8;
  const radius = size > 300 ? 3 : 4;
  return (/** @type {number} */ at) => {
    context.beginPath();
    const wide = radius * Math.min(MOST_WIDE, (counts?.[at] ?? 1) ** 0.25);
    context.arc(left + x[at] * width, top + (1 - y[at]) * height, wide, 0, 7);
    context.fill();
  };
}

/**
 * A cell is the fuller the more rollouts lie in it, by the logarithm of their number.
 * @param {CanvasRenderingContext2D} context
 * @param {Plane} plane
 * @param {Dots} dots
 * @param {Meta} meta
 * @param {Float32Array} counts
 */
function cellPainter(context, { left, top, width, height }, { x, y }, { columns, rows }, counts) {
  const [wide, tall] = [width / columns, height / rows];
  const most = Math.log1p(counts.reduce((one, other) => Math.max(one, other), 1));
  return (/** @type {number} */ at) => {
    context.globalAlpha = 0.15 + (0.85 * Math.log1p(counts[at])) / most;
    const [across, down] = [left + x[at] * width - wide / 2, top + (1 - y[at]) * height - tall / 2];
    context.fillRect(across, down, wide + 0.3, tall + 0.3);
  };
}

/**
 * A ring around a place: twice, so that it is seen on any colour.
 * @param {CanvasRenderingContext2D} context
 * @param {Place} pixels
 * @param {string} ink
 * @param {string} page
 */
export function paintRing(context, [x, y], ink, page) {
  for (const [color, thick] of /** @type {[string, number][]} */ ([
    [page, 4],
    [ink, 2],
  ])) {
    context.strokeStyle = color;
    context.lineWidth = thick;
    context.beginPath();
    context.arc(x, y, 6.5, 0, 7);
    context.stroke();
  }
}

/**
 * What the reader is about to select.
 * @param {CanvasRenderingContext2D} context
 * @param {Plane} plane
 * @param {Drag} drag
 * @param {Look} look
 */
export function paintDrag(context, plane, { mode, path }, look) {
  const corners = path.map((place) => pixelsOf(plane, place));
  context.beginPath();
  if (mode === "box") {
    const [[x0, y0], [x1, y1]] = [corners[0], corners[corners.length - 1]];
    context.rect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
  } else {
    for (const [x, y] of corners) context.lineTo(x, y);
    context.closePath();
  }
  context.fillStyle = look.text;
  context.globalAlpha = 0.08;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = look.text;
  context.lineWidth = 1.5;
  context.setLineDash([5, 3]);
  context.stroke();
  context.setLineDash([]);
}
