// Draws a timeline on a canvas: axes, the lines of means and of the best, the points. Knows no events.

import { evenTicks, stepTicks, tickText } from "../curves/ticks.js";
import { css, palette } from "../token_view/color.js";
import { crowded, ends, reachOf, share, smoothed } from "./layout.js";

/** @import { Drawn, Sent, Theme } from "./types" */

export const MARGIN = { left: 52, right: 52, top: 10, bottom: 24 };
const GRID = "rgb(128 136 140 / 0.22)";
const QUIETEST = 0.32; // of the colour scale, whose beginning is the page itself
const OPAQUE = { fill: 0.92, edge: 0.45 };
const PALE = { fill: 0.35, edge: 0 };
const TICKS = 4;
const TICK_WIDTH = 90;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Sent} sent
 * @param {Drawn} drawn
 * @param {Theme} theme
 */
export function paint(context, sent, drawn, theme) {
  context.clearRect(0, 0, drawn.width, drawn.height);
  context.font = `11px ${theme.font}`;
  axes(context, drawn, theme);
  const reach = reachOf(sent.mean.length);
  const [mean, best] = [sent.mean, sent.best].map((values) => (reach ? smoothed(values, reach) : values));
  const lines = () => {
    line(context, best, drawn, sent.meta.line, [2, 3]);
    line(context, mean, drawn, sent.meta.line, []);
  };
  const pale = crowded(sent, drawn.visitX);
  if (!pale) lines();
  points(context, sent, drawn, theme, pale ? PALE : OPAQUE);
  if (pale) lines(); // a crowd would hide them
  ending(context, { mean, best, name: sent.meta.words.best }, drawn, theme);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Drawn} drawn
 * @param {Theme} theme
 */
function axes(context, { width, height, spanX, spanY, scaleX, scaleY }, theme) {
  context.fillStyle = theme.quiet;
  context.strokeStyle = GRID;
  context.lineWidth = 1;
  context.setLineDash([]);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of evenTicks(spanY[0], spanY[1], TICKS)) {
    const y = Math.round(scaleY(tick)) + 0.5;
    stroke(context, [
      [MARGIN.left, y],
      [width - MARGIN.right, y],
    ]);
    context.fillText(tickText(tick), MARGIN.left - 8, y);
  }
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const room = width - MARGIN.left - MARGIN.right;
  for (const tick of stepTicks(spanX[0], spanX[1], Math.max(2, room / TICK_WIDTH))) {
    context.fillText(tickText(tick), scaleX(tick), height - 6);
  }
}

/**
 * A line through the visits, broken where one has no number.
 * @param {CanvasRenderingContext2D} context
 * @param {Float64Array} values
 * @param {Drawn} drawn
 * @param {string} color
 * @param {number[]} dash
 */
function line(context, values, { visitX, scaleY }, color, dash) {
  context.strokeStyle = color;
  context.lineWidth = 1.6;
  context.setLineDash(dash);
  context.beginPath();
  let open = false;
  for (let at = 0; at < values.length; at += 1) {
    if (Number.isNaN(values[at])) continue;
    if (open) context.lineTo(visitX[at], scaleY(values[at]));
    else context.moveTo(visitX[at], scaleY(values[at]));
    open = true;
  }
  context.stroke();
  context.setLineDash([]);
}

/**
 * The names of the lines where they end, apart from each other.
 * @param {CanvasRenderingContext2D} context
 * @param {{ mean: Float64Array; best: Float64Array; name: string }} lines
 * @param {Drawn} drawn
 * @param {Theme} theme
 */
function ending(context, lines, { width, scaleY }, theme) {
  const last = lines.mean.findLastIndex((value) => !Number.isNaN(value));
  if (last < 0) return;
  const mean = scaleY(lines.mean[last]);
  const best = Math.min(scaleY(lines.best[last]), mean - 12);
  context.fillStyle = theme.quiet;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText("mean", width - MARGIN.right + 12, mean);
  context.fillText(lines.name, width - MARGIN.right + 12, best);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Sent} sent
 * @param {Drawn} drawn
 * @param {Theme} theme
 * @param {{ fill: number; edge: number }} alpha
 */
function points(context, sent, { places }, theme, alpha) {
  const color = scale(theme);
  const between = ends(sent.color);
  context.lineWidth = 1;
  for (let at = 0; at < places.x.length; at += 1) {
    const place = share(sent.color[at], between);
    const fill = Number.isNaN(place) ? sent.meta.line : color(place);
    context.beginPath();
    context.arc(places.x[at], places.y[at], places.radius[at], 0, 2 * Math.PI);
    context.fillStyle = fill;
    context.globalAlpha = alpha.fill;
    context.fill();
    context.globalAlpha = alpha.edge;
    context.strokeStyle = theme.text;
    context.stroke();
    context.globalAlpha = 1;
  }
}

/**
 * The colour of each share from 0 to 1, as CSS has it.
 * @param {Pick<Theme, "background">} theme
 * @returns {(share: number) => string}
 */
export function scale({ background }) {
  const colors = palette(background);
  return (share) => css(colors.sequential(QUIETEST + share * (1 - QUIETEST)));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number[][]} way
 */
function stroke(context, way) {
  context.beginPath();
  for (const [x, y] of way) context.lineTo(x, y);
  context.stroke();
}
