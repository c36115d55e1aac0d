// The chosen metric against position, above the heatmap and in step with it: a line, or its extremes where many tokens share a pixel.

import { listenBrush } from "./brush.js";
import { axisNumbers, axisOf, envelopeOf, extentOf, runsOf } from "./chart_layout.js";
import { css } from "./color.js";
import { contextOf, element, perFrameAndWidth } from "./dom.js";
import { exact, short, whole } from "./format.js";
import { CELL, tokenColumns } from "./heat_layout.js";
import { showsToken } from "./zoom_range.js";

/** @import { Match, Metric, Model } from "./model_types" */
/** @import { Ends, Rgb } from "./plain_types" */
/** @import { BrushEvents, Chart, Pointed, ZoomRange } from "./view_types" */

/** @typedef {ReturnType<typeof chartSkeleton>} ChartParts */

/**
 * @typedef {object} State
 * @property {Model | null} model
 * @property {Metric | null} metric
 * @property {ZoomRange} zoomRange
 * @property {Match | null} inView
 * @property {Pointed | null} pointed
 * @property {Rgb} ink
 * @property {Rgb} faint
 * @property {ReturnType<typeof axisOf> | null} axis
 */

/**
 * What is drawn, once there is a model and a metric with a number.
 * @typedef {State & { model: Model; metric: Metric; axis: ReturnType<typeof axisOf> }} Drawn
 */

const TALL = 72;
/** Room above and below the line, so that a spike's tip and a flat line at zero are whole. */
const EDGE = 5;
/** Pixels a token must have to get a dot of its own. */
const DOTTED = 7;
/** Share of the height that keeps the zero from the ends' numbers. */
const NUMBER_ROOM = 0.24;

/**
 * The chart in `box`. `on` holds what it tells: hover(index or null), pin(index), brush(zoomRange), zoom(factor, token). Call `choose` with a
 * model and its metric, `zoomTo` with the zoom range to draw, `view` with the tokens in sight of the text, `mark` with the hovered
 * and pinned tokens, `paint` after a change of theme.
 * @param {HTMLElement} box
 * @param {BrushEvents} on
 * @returns {Chart}
 */
export function createChart(box, on) {
  const parts = chartSkeleton();
  /** @type {State} */
  const state = {
    model: null,
    metric: null,
    zoomRange: { from: 0, count: 1 },
    inView: null,
    pointed: null,
    ink: [0, 0, 0],
    faint: [0, 0, 0],
    axis: null,
  };
  box.append(parts.side, parts.plot, parts.value);
  const redraw = perFrameAndWidth(parts.plot, () => drawChart(parts, state));
  listenChart(parts, /** @type {Drawn} */ (state), on);
  return {
    plot: parts.plot,
    choose(model, metric) {
      Object.assign(state, { model, metric });
      box.hidden = model.n === 0 || metric === null || metric.finite === 0;
      redraw();
    },
    zoomTo(zoomRange) {
      state.zoomRange = zoomRange;
      redraw();
    },
    view(inView) {
      state.inView = inView;
      placeSight(parts, state);
    },
    mark(hovered, pinned) {
      state.pointed = { hovered, pinned };
      placeMarks(parts, state);
    },
    paint(ink, faint) {
      Object.assign(state, { ink, faint });
      redraw();
    },
    close: redraw.cancel,
  };
}

function chartSkeleton() {
  const canvas = element("canvas", "tv-chart-canvas", { "aria-hidden": "true" });
  const [sight, hoverMark, pinMark, dot] = ["sight", "hover", "pin", "dot"].map((name) =>
    element("div", `tv-chart-${name}`, { hidden: true }),
  );
  const brush = element("div", "tv-brush", { hidden: true });
  const plot = element("div", "tv-chart-plot", { tabIndex: 0, role: "group" }, sight, canvas, pinMark, hoverMark, dot, brush);
  const name = element("div", "tv-chart-name");
  const numbers = element("div", "tv-chart-numbers");
  const value = element("div", "tv-chart-value", { "aria-hidden": "true" });
  return {
    canvas,
    sight,
    brush,
    hoverMark,
    pinMark,
    dot,
    plot,
    name,
    numbers,
    value,
    side: element("div", "tv-chart-side", {}, name, numbers),
  };
}

/**
 * Pixels per token.
 * @param {ChartParts} parts
 * @param {State} state
 */
function pitch(parts, state) {
  return parts.plot.clientWidth / Math.max(1, state.zoomRange.count);
}

/**
 * @param {Drawn["axis"]} axis
 * @param {number} value
 */
function heightAt(axis, value) {
  return EDGE + (1 - axis.at(value)) * (TALL - 2 * EDGE);
}

/**
 * @param {ChartParts} parts
 * @param {State} state
 */
function drawChart(parts, state) {
  const { model, metric, zoomRange } = state;
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(parts.plot.clientWidth * ratio);
  if (!model || !metric || metric.finite === 0 || width === 0) return;
  const { canvas } = parts;
  [canvas.width, canvas.height] = [width, Math.round(TALL * ratio)];
  const [first, last] = [
    Math.max(0, Math.floor(zoomRange.from)),
    Math.min(model.n, Math.ceil(zoomRange.from + zoomRange.count)) - 1,
  ];
  const extent = extentOf(metric.values, metric.cells, first, last);
  state.axis = extent && axisOf(extent, { diverging: metric.scale === "diverging", log: metric.log });
  const drawn = /** @type {Drawn} */ (state);
  describe(parts, drawn, extent, first, last);
  if (extent) {
    const context = contextOf(canvas);
    drawZero(context, drawn, width, ratio);
    if (state.zoomRange.count > width) drawEnvelope(context, drawn, width, ratio);
    else drawLine(context, drawn, first, last, width / zoomRange.count, ratio);
    drawInfinite(context, drawn, first, last, width / zoomRange.count, ratio);
  }
  placeSight(parts, state);
  placeMarks(parts, state);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Drawn} state
 * @param {number} width
 * @param {number} ratio
 */
function drawZero(context, state, width, ratio) {
  if (state.axis.lo > 0 || state.axis.hi < 0) return;
  context.fillStyle = css(state.faint);
  context.fillRect(0, Math.round(heightAt(state.axis, 0) * ratio), width, Math.max(1, Math.round(ratio)));
}

/**
 * From the least to the greatest number of each pixel, reaching to its neighbour's, so that the line is one.
 * @param {CanvasRenderingContext2D} context
 * @param {Drawn} state
 * @param {number} width
 * @param {number} ratio
 */
function drawEnvelope(context, state, width, ratio) {
  const { metric, zoomRange } = state;
  const scale = width / zoomRange.count;
  const { low, high } = envelopeOf(metric.values, metric.cells, zoomRange.from * scale, scale, width);
  // Softer than the line: where the numbers scatter much this is a solid band, and the text is to stay the loudest thing.
  context.fillStyle = css(state.ink.map((channel, i) => 0.6 * channel + 0.4 * state.faint[i]));
  for (let x = 0; x < width; x += 1) {
    if (Number.isNaN(low[x])) continue;
    // A neighbour without a number is NaN, which Math.max and Math.min would hand on.
    const top = Math.max(high[x], low[x - 1] > high[x] ? low[x - 1] : high[x]);
    const bottom = Math.min(low[x], high[x - 1] < low[x] ? high[x - 1] : low[x]);
    const y = heightAt(state.axis, top) * ratio;
    context.fillRect(x, y, 1, Math.max(ratio, heightAt(state.axis, bottom) * ratio - y));
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Drawn} state
 * @param {number} first
 * @param {number} last
 * @param {number} scale
 * @param {number} ratio
 */
function drawLine(context, state, first, last, scale, ratio) {
  const { metric, zoomRange } = state;
  const dotted = scale >= DOTTED * ratio;
  /** @param {number} i */
  const x = (i) => (i + 0.5 - zoomRange.from) * scale;
  /** @param {number} i */
  const y = (i) => heightAt(state.axis, metric.values[i]) * ratio;
  const ink = css(state.ink);
  Object.assign(context, { strokeStyle: ink, fillStyle: ink, lineWidth: ratio, lineJoin: "round" });
  const size = (dotted ? 2 : 0.75) * ratio;
  for (const [from, to] of runsOf(metric.cells, first, last)) {
    context.beginPath();
    for (let i = from; i <= to; i += 1) context.lineTo(x(i), y(i));
    context.stroke();
    // A number between two gaps has no line and would be lost without a dot.
    if (!dotted && from !== to) continue;
    context.beginPath();
    for (let i = from; i <= to; i += 1) {
      context.moveTo(x(i) + size, y(i));
      context.arc(x(i), y(i), size, 0, 2 * Math.PI);
    }
    context.fill();
  }
}

/**
 * An infinity has no height: a mark at the upper or the lower edge.
 * @param {CanvasRenderingContext2D} context
 * @param {Drawn} state
 * @param {number} first
 * @param {number} last
 * @param {number} scale
 * @param {number} ratio
 */
function drawInfinite(context, state, first, last, scale, ratio) {
  const { cells, values } = state.metric;
  context.fillStyle = css(state.ink);
  for (let i = first; i <= last; i += 1) {
    if (cells[i] !== CELL.infinite) continue;
    const x = (i + 0.5 - state.zoomRange.from) * scale;
    context.fillRect(x - 1.5 * ratio, values[i] > 0 ? 0 : (TALL - 3) * ratio, 3 * ratio, 3 * ratio);
  }
}

/**
 * The axis in numbers, and for those who listen what the line spans.
 * @param {ChartParts} parts
 * @param {Drawn} state
 * @param {Ends | null} extent
 * @param {number} first
 * @param {number} last
 */
function describe(parts, state, extent, first, last) {
  const { metric, model } = state;
  parts.name.replaceChildren(element("span", "tv-chart-metric", {}, metric.name), ` ${metric.unit}`);
  const numbers = extent ? axisNumbers(state.axis, NUMBER_ROOM) : [];
  parts.numbers.replaceChildren(
    ...numbers.map(({ value }) => {
      const number = element("span", "", { title: exact(Math.fround(value)) }, short(value));
      number.style.top = `${heightAt(state.axis, value)}px`;
      return number;
    }),
  );
  const span = `tokens ${whole(model.start + first + 1)} to ${whole(model.start + last + 1)}`;
  const words = extent ? `from ${short(extent[0])} to ${short(extent[1])}` : "no number";
  parts.plot.setAttribute(
    "aria-label",
    `line chart of ${metric.name}, ${span}: ${words}; drag to zoom, arrow keys move, 0 shows all tokens`,
  );
}

/**
 * The tokens that the text shows, as a quiet band.
 * @param {ChartParts} parts
 * @param {State} state
 */
function placeSight(parts, state) {
  const { zoomRange, inView, model } = state;
  const [first, last] = inView ?? [0, -1];
  const end = zoomRange.from + zoomRange.count;
  const all = first <= zoomRange.from && last + 1 >= end;
  parts.sight.hidden = !model || all || last < zoomRange.from || first > end;
  if (parts.sight.hidden) return;
  parts.sight.style.left = `${((first - zoomRange.from) / zoomRange.count) * 100}%`;
  parts.sight.style.width = `max(3px, ${((last + 1 - first) / zoomRange.count) * 100}%)`;
}

/**
 * @param {ChartParts} parts
 * @param {State} state
 */
function placeMarks(parts, state) {
  const { metric, pointed, zoomRange, axis } = state;
  const { hovered = null, pinned = null } = pointed ?? {};
  /** @param {number} index */
  const left = (index) => `${((index + 0.5 - zoomRange.from) / zoomRange.count) * 100}%`;
  for (const { mark, index } of [
    { mark: parts.hoverMark, index: hovered },
    { mark: parts.pinMark, index: pinned },
  ]) {
    mark.hidden = index === null || !showsToken(zoomRange, index);
    if (index !== null && !mark.hidden) mark.style.left = left(index);
  }
  const shown = hovered ?? pinned;
  parts.value.textContent = shown === null || !metric ? "" : short(metric.values[shown]);
  parts.dot.hidden = true;
  parts.value.style.top = `${TALL / 2}px`;
  if (shown === null || metric === null || axis === null) return;
  if (metric.cells[shown] !== CELL.number || !showsToken(zoomRange, shown)) return;
  parts.dot.hidden = false;
  parts.dot.style.left = left(shown);
  parts.dot.style.top = parts.value.style.top = `${heightAt(axis, metric.values[shown])}px`;
}

/**
 * @param {ChartParts} parts
 * @param {Drawn} state
 * @param {BrushEvents} on
 */
function listenChart(parts, state, on) {
  const { plot, brush } = parts;
  listenBrush(
    plot,
    plot,
    brush,
    {
      n: () => state.model.n,
      from: () => state.zoomRange.from,
      pitch: () => pitch(parts, state),
      at: (event) => loudestAt(parts, state, event.clientX - plot.getBoundingClientRect().left),
      pinned: () => state.pointed?.pinned ?? null,
    },
    on,
  );
}

/**
 * The token under a place of the chart; where many share a pixel the loudest, which is the one a reader points at.
 * @param {ChartParts} parts
 * @param {Drawn} state
 * @param {number} x
 */
function loudestAt(parts, state, x) {
  const scale = pitch(parts, state);
  const index = Math.min(state.model.n - 1, Math.max(0, Math.floor(state.zoomRange.from + x / scale)));
  if (scale >= 1) return index;
  const [found] = tokenColumns(state.metric.loudness, state.metric.cells, Math.floor(state.zoomRange.from * scale + x), scale, 1);
  return found < 0 ? index : found;
}
