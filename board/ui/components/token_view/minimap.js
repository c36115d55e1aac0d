// The whole response as one strip: its loudest token in every pixel, where the text stands in it, what was found. A drag moves the text.

import { colorAt, css } from "./color.js";
import { contextOf, element, perFrameAndWidth } from "./dom.js";
import { tokenColumns } from "./heat_layout.js";

/** @import { Model, Palette, ShownMetric } from "./model_types" */
/** @import { Rgb } from "./plain_types" */
/** @import { Minimap, MinimapState } from "./view_types" */

const HEIGHT = 30;
/** Room at the top for the marks of a search. */
const HEADROOM = 4;

/**
 * The strip in `box`; `go(index)` is called with the token that was pointed at. Call `show` after every change, `follow` after a move.
 * @param {HTMLElement} box
 * @param {(index: number) => void} go
 * @returns {Minimap}
 */
export function createMinimap(box, go) {
  const canvas = element("canvas", "tv-map-canvas", { "aria-hidden": "true" });
  const frame = element("div", "tv-map-view");
  const pin = element("div", "tv-map-pin", { hidden: true });
  box.append(canvas, frame, pin);
  /** @type {MinimapState} */
  const state = {
    model: null,
    metric: null,
    colors: null,
    ink: [0, 0, 0],
    matchInk: null,
    matches: null,
    inView: null,
    pinned: null,
  };
  const redraw = perFrameAndWidth(box, () => {
    drawStrip(canvas, box, state);
    placeFrame(frame, pin, state);
  });
  /** @param {PointerEvent} event */
  const point = (event) => {
    if (event.buttons !== 1 || !state.model?.n) return;
    const area = box.getBoundingClientRect();
    go(Math.min(state.model.n - 1, Math.max(0, Math.floor(((event.clientX - area.left) / area.width) * state.model.n))));
  };
  box.onpointerdown = (event) => {
    box.setPointerCapture(event.pointerId);
    point(event);
  };
  box.onpointermove = point;
  return {
    show(changes) {
      Object.assign(state, changes);
      redraw();
    },
    follow(changes) {
      Object.assign(state, changes);
      placeFrame(frame, pin, state);
    },
    close: redraw.cancel,
  };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLElement} box
 * @param {MinimapState} state
 */
function drawStrip(canvas, box, { model, metric, colors, ink, matches, matchInk }) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(box.clientWidth * ratio);
  if (!model || width === 0 || !colors) return;
  canvas.width = width;
  canvas.height = Math.round(HEIGHT * ratio);
  canvas.style.height = `${HEIGHT}px`;
  const context = contextOf(canvas);
  const scale = width / Math.max(1, model.n);
  if (metric && metric.finite > 0)
    drawBars(context, metric, tokenColumns(metric.loudness, metric.cells, 0, scale, width), colors, ratio);
  drawTops(context, model, ink, scale, ratio);
  if (!matches) return;
  context.fillStyle = css(matchInk ?? ink);
  for (let i = 0; i < matches.length; i += 1)
    if (matches[i]) context.fillRect(Math.floor(i * scale), 0, Math.max(ratio, scale), (HEADROOM - 1) * ratio);
}

/**
 * The tokens that hold most of the KL: a thin stroke for each, a wedge for the five.
 * @param {CanvasRenderingContext2D} context
 * @param {Model} model
 * @param {Rgb} ink
 * @param {number} scale
 * @param {number} ratio
 */
function drawTops(context, { tops }, ink, scale, ratio) {
  context.fillStyle = css(ink);
  for (const [i, what] of tops) {
    const x = Math.floor((i + 0.5) * scale);
    if (what === "five") {
      for (let y = 0; y < HEADROOM; y += 1)
        context.fillRect(x - (HEADROOM - 1 - y) * ratio, y * ratio, (2 * (HEADROOM - 1 - y) + 1) * ratio, ratio);
    } else context.fillRect(x, 0, ratio, 2 * ratio);
  }
}

/**
 * Height by the root of the loudness: a spike towers, and the rest can still be read.
 * @param {CanvasRenderingContext2D} context
 * @param {ShownMetric} metric
 * @param {Int32Array} columns
 * @param {Palette} colors
 * @param {number} ratio
 */
function drawBars(context, metric, columns, colors, ratio) {
  let most = 0;
  for (const token of columns)
    if (token >= 0 && Number.isFinite(metric.loudness[token])) most = Math.max(most, metric.loudness[token]);
  const room = (HEIGHT - HEADROOM) * ratio;
  const bottom = HEIGHT * ratio;
  columns.forEach((token, x) => {
    if (token < 0 || metric.loudness[token] < 0) return;
    const share = most === 0 ? 0 : Math.min(1, Math.sqrt(metric.loudness[token] / most));
    const tall = Math.max(ratio, Math.round(share * room));
    const at = metric.places[token];
    context.fillStyle = css(colorAt(colors, metric.scale, Math.sign(at) * Math.max(0.45, Math.abs(at)) || 0.45));
    context.fillRect(x, bottom - tall, 1, tall);
  });
}

/**
 * In shares of the width, so that no layout is asked for while the text scrolls.
 * @param {HTMLElement} frame
 * @param {HTMLElement} pin
 * @param {MinimapState} state
 */
function placeFrame(frame, pin, { model, inView, pinned }) {
  if (!model || model.n === 0) return;
  const [first, last] = inView ?? [0, model.n - 1];
  const wide = (last + 1 - first) / model.n;
  frame.style.left = `min(${(first / model.n) * 100}%, 100% - 6px)`;
  frame.style.width = `max(6px, ${wide * 100}%)`;
  pin.hidden = pinned === null;
  if (pinned !== null) pin.style.left = `${((pinned + 0.5) / model.n) * 100}%`;
}
