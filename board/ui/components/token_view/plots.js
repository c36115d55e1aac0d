// What lies beneath the text, chart and heatmap, over one zoom range: its moves by pointer, key and link.

import { createChart } from "./chart.js";
import { whole } from "./format.js";
import { createHeat } from "./heat.js";
import {
  fitZoomRange,
  panZoomRange,
  readZoomRange,
  scaleZoomRange,
  tokensOfZoomRange,
  wholeZoomRange,
  zoomRangeName,
  zoomRangeWith,
} from "./zoom_range.js";

/** @import { Model } from "./model_types" */
/** @import { KeyActions, Parts, Plots, PlotsEvents, ZoomRange } from "./view_types" */

/** @typedef {{ model: Model; zoomRange: ZoomRange; reported: string; timer: ReturnType<typeof setTimeout> | undefined }} State */
/** @typedef {ReturnType<typeof createZoomed>} Zoomed */

/** Milliseconds without a move after which the zoom range is reported. */
const REST = 500;
/** Share of what is in view that a bracket key moves. */
const STRIDE = 0.5;

/**
 * Chart and heatmap in the elements `parts` of the skeleton. `on` holds what they tell: hover(index or null), pin(index), metric(name),
 * text(index) when the text is to go to a token, moved() when the zoom range has come to rest at another.
 * @param {Parts} parts
 * @param {PlotsEvents} on
 * @returns {Plots}
 */
export function createPlots(parts, on) {
  const zoomed = createZoomed(parts, on);
  const { state, heat, chart } = zoomed;
  parts.zoom.onclick = (event) => {
    const pressed = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-zoom]"));
    const factor = pressed?.dataset.zoom;
    if (factor !== undefined) zoomed.zoomAt(Number(factor), heat.pinned());
  };
  return {
    /** The elements that take the keys of `keys`. */
    focusable: [heat.scroller, chart.plot],
    show(model) {
      clearTimeout(state.timer);
      zoomed.begin(model);
    },
    choose(metric) {
      heat.choose(metric?.name);
      chart.choose(state.model, metric);
    },
    paint(colors, ink, faint) {
      heat.paint(colors, ink, faint);
      chart.paint(ink, faint);
    },
    rescaled: heat.rescaled,
    mark(hovered, pinned) {
      heat.mark(hovered, pinned);
      chart.mark(hovered, pinned);
    },
    inView: chart.view,
    reveal(index) {
      const next = zoomRangeWith(state.model.n, state.zoomRange, index);
      if (next !== state.zoomRange) zoomed.move(next);
    },
    /** The zoom range as it is reported; what is reported need not be heard again. */
    tell() {
      state.reported = zoomed.name();
      return state.reported;
    },
    /** Opens the zoom range of a link; its first token, or null when the server only repeats what it was told. */
    open(text) {
      const zoomRange = text === state.reported ? null : readZoomRange(state.model.n, text, state.model.start);
      if (zoomRange === null) return null;
      clearTimeout(state.timer);
      zoomed.put(zoomRange, false);
      state.reported = String(text);
      return tokensOfZoomRange(state.model.n, zoomRange)[0];
    },
    keys: (index) => keysOf(zoomed, index),
    close() {
      clearTimeout(state.timer);
      heat.close();
      chart.close();
    },
  };
}

/**
 * Chart and heatmap over one zoom range, and the ways to another: begin takes a response and all of it, put draws a zoom range, move reports
 * it too once it rests.
 * @param {Parts} parts
 * @param {PlotsEvents} on
 */
function createZoomed(parts, on) {
  // The model comes with the first `show`.
  const state = /** @type {State} */ (
    /** @type {unknown} */ ({ model: null, zoomRange: wholeZoomRange(1), reported: "all", timer: undefined })
  );
  /** @param {Model} model */
  const begin = (model) => {
    const zoomRange = wholeZoomRange(model.n);
    Object.assign(state, { model, zoomRange, reported: "all" });
    heat.show(model, zoomRange);
    chart.zoomTo(zoomRange);
    sayZoomRange(parts, state);
  };
  const name = () => zoomRangeName(state.model.n, state.zoomRange, state.model.start);
  /**
   * @param {ZoomRange} zoomRange
   * @param {boolean} [scrolled]
   */
  const put = (zoomRange, scrolled) => {
    state.zoomRange = zoomRange;
    heat.zoomTo(zoomRange, scrolled);
    chart.zoomTo(zoomRange);
    sayZoomRange(parts, state);
  };
  /**
   * @param {ZoomRange} zoomRange
   * @param {boolean} [scrolled]
   */
  const move = (zoomRange, scrolled = false) => {
    put(fitZoomRange(state.model.n, zoomRange), scrolled);
    clearTimeout(state.timer);
    state.timer = setTimeout(() => name() !== state.reported && on.moved(), REST);
  };
  /**
   * @param {number} factor
   * @param {number} around
   */
  const zoom = (factor, around) => move(scaleZoomRange(state.model.n, state.zoomRange, factor, around));
  /**
   * @param {number} factor
   * @param {number | null} index
   */
  const zoomAt = (factor, index) => {
    if (index !== null) put(zoomRangeWith(state.model.n, state.zoomRange, index), false);
    zoom(factor, index === null ? state.zoomRange.from + state.zoomRange.count / 2 : index + 0.5);
  };
  /** @param {ZoomRange} zoomRange */
  const brush = (zoomRange) => {
    move(zoomRange);
    on.text(tokensOfZoomRange(state.model.n, state.zoomRange)[0]);
  };
  const heat = createHeat(parts.heat, { ...on, move, brush, zoom });
  const chart = createChart(parts.chart, { ...on, brush, zoom });
  return { state, heat, chart, begin, name, put, move, zoom, zoomAt };
}

/**
 * @param {Zoomed} zoomed
 * @param {number | null} index
 * @returns {KeyActions}
 */
function keysOf({ state, move, zoom, zoomAt }, index) {
  return {
    "+": () => zoomAt(2, index),
    "-": () => zoomAt(0.5, index),
    0: () => zoom(0, 0),
    "[": () => move(panZoomRange(state.model.n, state.zoomRange, -STRIDE)),
    "]": () => move(panZoomRange(state.model.n, state.zoomRange, STRIDE)),
  };
}

/**
 * Which tokens are drawn, where that is not all of them.
 * @param {Parts} parts
 * @param {State} state
 */
function sayZoomRange({ zoom, zoomText: words }, { model, zoomRange }) {
  const all = zoomRange.count >= model.n;
  const [first, last] = model.n === 0 ? [0, 0] : tokensOfZoomRange(model.n, zoomRange);
  const text = all ? "" : `tokens ${whole(model.start + first + 1)}–${whole(model.start + last + 1)}`;
  if (words.textContent !== text) words.textContent = text;
  for (const button of zoom.querySelectorAll("button")) if (button.dataset.zoom === "0") button.disabled = all;
}
