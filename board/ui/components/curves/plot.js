// One panel on a canvas, by uPlot: its axes, bands and lines, and what the pointer does on it.

import { stepText } from "./number_text.js";
import { allPlaces, plotData, stretches } from "./plot_data.js";
import { keptPlaces } from "./thinning.js";
import { evenTicks, logTicks, stepTicks, tickText } from "./ticks.js";
import { valueAxis } from "./value_range.js";
import uPlot from "./vendored/uPlot.esm.js";

/** @import { Acts, Card, Frame, Look, Range } from "./types" */

/** Pixels of the plot's own edges, for numbers of the axes and the name of the chosen step. */
export const EDGES = { left: 54, top: 18, bottom: 22 };
const GRID = "rgba(128,136,140,0.22)";
const FEW = 3; // bands that lie over each other are paler where there are so many
const LONE_BAND = 3; // pixels to either side of a step that stands alone
const TICK_ROOM = { steps: 44, values: 26 };
const DIGIT_WIDTH = 7; // pixels, of the numbers at the axes
const WHOLE = 2000; // points up to which a line is drawn whole, however narrow the plot
const FIRST_DRAG = 6; // pixels after which a press is no click

/**
 * @typedef {object} Plot
 * @property {uPlot} u
 * @property {HTMLElement} over
 * @property {() => Frame} frame
 * @property {(range: Range) => void} show
 * @property {(width: number, right: number) => void} resize
 */

/**
 * @param {Card} card
 * @param {HTMLElement} target
 * @param {{ width: number; height: number; right: number; range: Range; look: Look; acts: Acts; after: () => void }} given `after` is called whenever the plot was drawn, which is later
 * @returns {Plot}
 */
export function plot(card, target, { width, height, right, range, look, acts, after }) {
  const long = card.curves.some(({ steps }) => steps.length > WHOLE);
  const view = {
    range,
    right,
    width,
    values: valueAxis(card, range),
    ...drawnPoints(card, range, long ? width - EDGES.left - right : 0),
  };
  /** @param {uPlot} drawn */
  const sizeOf = (drawn) => ({
    width: drawn.width - EDGES.left - view.right,
    height: drawn.height - EDGES.top - EDGES.bottom,
  });
  const u = new uPlot(
    {
      width,
      height,
      padding: [EDGES.top, () => view.right, 0, 0],
      legend: { show: false },
      cursor: cursorOf(acts),
      scales: {
        x: { time: false, auto: false, min: range[0], max: range[1] },
        y: { auto: false, min: view.values[0], max: view.values[1], distr: card.log ? 3 : 1 },
      },
      axes: axes(card, look, sizeOf),
      series: [{}, ...view.strokes.map((stroke, at) => seriesOf(stroke, () => view.strokes[at].lone))],
      hooks: {
        drawAxes: [(/** @type {uPlot} */ drawn) => drawBands(drawn, card, view.kept)],
        draw: [after],
        setSelect: [(/** @type {uPlot} */ drawn) => selected(drawn, acts)],
      },
    },
    dataOf(view),
    target,
  );
  const choosePoints = () => {
    if (!long) return;
    Object.assign(view, drawnPoints(card, view.range, sizeOf(u).width));
    u.setData(dataOf(view), false);
  };
  return {
    u,
    over: u.over,
    frame: () => frameOf(u, view.range),
    show: (wanted) => {
      view.range = wanted;
      view.values = valueAxis(card, wanted);
      u.batch(() => {
        choosePoints();
        u.setScale("x", { min: wanted[0], max: wanted[1] });
        u.setScale("y", { min: view.values[0], max: view.values[1] });
      });
    },
    resize: (wide, edge) => {
      if (wide === view.width && edge === view.right) return; // uPlot would paint the very same again
      Object.assign(view, { width: wide, right: edge });
      u.setSize({ width: wide, height });
      choosePoints();
    },
  };
}

/**
 * Which points are drawn, and as what: all of them where `pixels` is 0, else those that a plot so wide can show.
 * @param {Card} card
 * @param {Range} range
 * @param {number} pixels
 */
function drawnPoints(card, range, pixels) {
  const kept = card.curves.map((curve) =>
    pixels ? keptPlaces(curve, range, pixels * devicePixelRatio, card.log) : allPlaces(curve),
  );
  return { kept, ...plotData(card, kept) };
}

/** @param {ReturnType<typeof drawnPoints>} drawn */
function dataOf({ steps, strokes }) {
  return [steps, ...strokes.map((stroke) => stroke.column)];
}

/**
 * @param {uPlot} u
 * @param {Range} range
 * @returns {Frame}
 */
function frameOf(u, range) {
  return {
    width: u.bbox.width / devicePixelRatio, // asking the element would lay out the page
    height: u.bbox.height / devicePixelRatio,
    across: (step) => u.valToPos(step, "x"),
    down: (value) => u.valToPos(value, "y"),
    range,
  };
}

/**
 * @param {import("./types").Stroke} stroke
 * @param {() => number[]} lone
 */
function seriesOf({ color, width, dash }, lone) {
  const points = { show: () => lone().length > 0, size: 6, width: 0, fill: color, filter: lone };
  return { stroke: color, width, dash, points };
}

/** @param {Acts} acts */
function cursorOf(acts) {
  return {
    x: false,
    y: false,
    points: { show: false },
    drag: { x: true, y: false, setScale: false, dist: FIRST_DRAG },
    bind: { dblclick: () => () => acts.zoom(null) },
  };
}

/**
 * What was brushed over becomes the range in view, at least one step wide.
 * @param {uPlot} u
 * @param {Acts} acts
 */
function selected(u, acts) {
  const { left, width } = u.select;
  if (width <= 0) return;
  const [from, to] = [Math.ceil(u.posToVal(left, "x")), Math.floor(u.posToVal(left + width, "x"))];
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (to > from) acts.zoom([from, to]);
}

/**
 * @param {Card} card
 * @param {Look} look
 * @param {(u: uPlot) => { width: number; height: number }} sizeOf of the plot without its edges, known before it is laid out
 */
function axes(card, look, sizeOf) {
  const shared = { stroke: look.soft, font: `11px ${look.font}`, ticks: { show: false }, gap: 6 };
  /** @type {(u: uPlot, axis: number, low: number, high: number) => number[]} */
  const across = (u, _, low, high) => {
    const room = Math.max(TICK_ROOM.steps, DIGIT_WIDTH * (stepText(Math.round(high)).length + 2));
    return stepTicks(low, high, Math.max(2, Math.floor(sizeOf(u).width / room)));
  };
  /** @type {(u: uPlot, axis: number, low: number, high: number) => number[]} */
  const down = (u, _, low, high) =>
    (card.log ? logTicks : evenTicks)(low, high, Math.max(2, Math.floor(sizeOf(u).height / TICK_ROOM.values)));
  return [
    {
      ...shared,
      size: EDGES.bottom,
      grid: { show: false },
      splits: across,
      values: (/** @type {uPlot} */ _, /** @type {number[]} */ ticks) => ticks.map(stepText),
    },
    {
      ...shared,
      size: EDGES.left,
      grid: { stroke: GRID, width: 1 },
      splits: down,
      filter: (/** @type {uPlot} */ _, /** @type {number[]} */ ticks) => ticks,
      values: (/** @type {uPlot} */ _, /** @type {number[]} */ ticks) => ticks.map(tickText),
    },
  ];
}

/**
 * Below the lines, one area per stretch of steps without a gap.
 * @param {uPlot} u
 * @param {Card} card
 * @param {ArrayLike<number>[]} kept
 */
function drawBands(u, card, kept) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.globalAlpha = card.curves.length < FEW ? 0.2 : 0.12;
  card.curves.forEach((curve, at) => {
    ctx.fillStyle = curve.color;
    for (const stretch of stretches(curve, kept[at])) fillBand(u, curve, stretch);
  });
  ctx.restore();
}

/**
 * @param {uPlot} u
 * @param {import("./types").Curve} curve
 * @param {number[]} stretch
 */
function fillBand(u, { steps, low, high }, stretch) {
  if (!low || !high) return;
  const { ctx } = u;
  /** @param {number} at */
  const across = (at) => u.valToPos(steps[at], "x", true);
  /** @param {number} value */
  const down = (value) => u.valToPos(value, "y", true);
  ctx.beginPath();
  if (stretch.length === 1) {
    const [at, half] = [stretch[0], LONE_BAND * devicePixelRatio];
    ctx.rect(across(at) - half, down(high[at]), 2 * half, down(low[at]) - down(high[at]));
  } else {
    for (const at of stretch) ctx.lineTo(across(at), down(high[at]));
    for (const at of [...stretch].reverse()) ctx.lineTo(across(at), down(low[at]));
    ctx.closePath();
  }
  ctx.fill();
}
