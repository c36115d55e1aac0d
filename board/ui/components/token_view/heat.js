// The metrics × tokens heatmap: a row per metric on its own scale. Its elements and the pointer in them; what is drawn is in heat_paint.js.

import { listenBrush } from "./brush.js";
import { element, perFrameAndWidth } from "./dom.js";
import { short } from "./format.js";
import { paintHeat, shadesOf } from "./heat_paint.js";
import { showsToken } from "./zoom_range.js";

/** @import { Size } from "./plain_types" */
/** @import { Heat, HeatEvents, HeatParts, HeatState } from "./view_types" */

const ROW = 20;
/** Room for a second line under the name where the view is narrow. */
const TALL_ROW = 32;
const NARROW = 620;
const AXIS = 18;
/** Room for the tokens' own text above their columns. */
const HEAD = 18;
/** Pixels a token must have for its numbers to be written into its cells. */
const WRITTEN = 44;
/** Browsers lay nothing out that is much wider; a long response close up scrolls in larger steps. */
const WIDEST_TRACK = 8_000_000;

/**
 * The heatmap in `box`. `on` holds what it tells: hover(index or null), pin(index), metric(name), move(zoomRange) when it is
 * scrolled, brush(zoomRange) when it is drawn over, zoom(factor, token). Call `show` with a model and a zoom range, `zoomTo` with another,
 * `mark` with the hovered and pinned tokens, `paint` after a change of theme, `choose` when the text takes another metric.
 * @param {HTMLElement} box
 * @param {HeatEvents} on
 * @returns {Heat}
 */
export function createHeat(box, on) {
  const parts = heatSkeleton();
  // The model comes with the first `show`.
  const state = /** @type {HeatState} */ (
    /** @type {unknown} */ ({
      model: null,
      colors: null,
      ink: [0, 0, 0],
      rows: [],
      zoomRange: { from: 0, count: 1 },
      width: 0,
      laidIn: 0,
      scale: 1,
      row: ROW,
      head: 0,
      put: 0,
    })
  );
  box.append(parts.labels, parts.scroller, parts.readout, parts.note);
  const redraw = perFrameAndWidth(box, () => {
    if (state.laidIn !== box.clientWidth) place(box, parts, state);
    paintHeat(parts, state, redraw);
  });
  listen(parts, state, on);

  return {
    scroller: parts.scroller,
    pinned: () => state.pointed?.pinned ?? null,
    show(model, zoomRange) {
      // Laid out when it is drawn, and not here: the browser would work out the places of a text of which much is still to come.
      Object.assign(state, { model, zoomRange, laidIn: 0 });
      state.rows = model.metrics.map((metric) => ({ metric, shades: null, columns: null, drawn: "", ends: null, endsAt: "" }));
      box.hidden = model.n === 0 || model.metrics.length === 0;
      drawLabels(parts, state, on);
      shade(state);
      redraw();
    },
    paint(colors, ink, faint) {
      Object.assign(state, { colors, ink, faint });
      shade(state);
      redraw();
    },
    /** A metric's range has changed. */
    rescaled() {
      for (const row of state.rows) row.drawn = row.endsAt = "";
      redraw();
    },
    choose(name) {
      for (const label of /** @type {Iterable<HTMLElement>} */ (parts.labels.children))
        label.setAttribute("aria-pressed", String(label.dataset.metric === name));
    },
    mark(hovered, pinned) {
      state.pointed = { hovered, pinned };
      placeLines(parts, state);
      drawReadout(parts, state, hovered ?? pinned);
    },
    /** Shows another zoom range; while the reader scrolls, the scroll bar is left alone. */
    zoomTo(zoomRange, scrolled = false) {
      state.zoomRange = zoomRange;
      place(box, parts, state, scrolled);
      redraw();
    },
    close: redraw.cancel,
  };
}

/** @param {HeatState} state */
function shade({ rows, colors, ink }) {
  for (const row of rows) row.shades = colors && shadesOf(colors, row.metric, ink);
}

/** @returns {HeatParts} */
function heatSkeleton() {
  const canvas = element("canvas", "tv-canvas", { "aria-hidden": "true" });
  const hoverLine = element("div", "tv-line tv-line-hover", { hidden: true });
  const pinLine = element("div", "tv-line tv-line-pin", { hidden: true });
  const band = element("div", "tv-brush", { hidden: true });
  const pane = element("div", "tv-pane", {}, canvas, hoverLine, pinLine, band);
  const track = element("div", "tv-track", {}, pane);
  const label =
    "every metric of every token; drag to zoom, arrow keys move, Enter pins, plus and minus zoom, brackets move the view";
  const scroller = element("div", "tv-heat-scroll", { tabIndex: 0, role: "group", "aria-label": label }, track);
  const readout = element("div", "tv-readout", { "aria-hidden": "true" });
  const note = element("div", "tv-heat-note tv-dim");
  return { canvas, hoverLine, pinLine, band, pane, track, scroller, readout, note, labels: element("div", "tv-labels") };
}

/**
 * @param {HeatParts} parts
 * @param {HeatState} state
 * @param {HeatEvents} on
 */
function drawLabels(parts, state, on) {
  const labels = state.model.metrics.map((metric) => {
    const title = `${metric.meaning || metric.name}${metric.unit ? ` (${metric.unit})` : ""}; click to colour the text by it`;
    const button = element("button", "tv-label", { type: "button", title, "aria-pressed": "false", "data-metric": metric.name });
    button.append(element("span", "tv-label-name", {}, metric.name), element("span", "tv-label-range"));
    button.onclick = () => on.metric(metric.name);
    return button;
  });
  parts.labels.replaceChildren(...labels);
  parts.readout.replaceChildren(...labels.map(() => element("span", "tv-value")));
}

/**
 * @param {HeatParts} parts
 * @param {HeatState} state
 * @param {number | null} index
 */
function drawReadout(parts, state, index) {
  state.rows.forEach(({ metric }, i) => {
    const text = index === null ? "" : short(metric.values[index]);
    const cell = parts.readout.children[i];
    if (cell.textContent !== text) cell.textContent = text;
  });
}

/**
 * Lays it out for its zoom range; while the reader scrolls, the scroll bar is left alone.
 * @param {HTMLElement} box
 * @param {HeatParts} parts
 * @param {HeatState} state
 * @param {boolean} [scrolled]
 */
function place(box, parts, state, scrolled = false) {
  if (state.model && !box.hidden) layout(box, parts, state);
  if (state.model && !scrolled) scrollTo(parts, state);
}

/**
 * @param {HTMLElement} box
 * @param {HeatParts} parts
 * @param {HeatState} state
 */
function layout(box, parts, state) {
  state.laidIn = box.clientWidth;
  const narrow = state.laidIn < NARROW;
  box.toggleAttribute("data-narrow", narrow);
  state.row = narrow ? TALL_ROW : ROW;
  state.width = Math.max(1, parts.scroller.clientWidth);
  state.scale = state.width / Math.max(1, state.zoomRange.count);
  state.head = state.scale >= WRITTEN ? HEAD : 0;
  state.height = state.head + state.rows.length * state.row + AXIS;
  box.style.setProperty("--tv-row", `${state.row}px`);
  box.style.setProperty("--tv-head", `${state.head}px`);
  // Floor: a track a fraction of a pixel too wide would bring up a scroll bar.
  const track = Math.floor(Math.min(WIDEST_TRACK, state.model.n * state.scale));
  state.room = Math.max(0, track - state.width);
  parts.track.style.width = `${Math.max(state.width, track)}px`;
  parts.track.style.height = parts.pane.style.height = `${state.height}px`;
  parts.pane.style.width = `${state.width}px`;
  resizeCanvas(parts.canvas, state);
  placeLines(parts, state);
}

/**
 * Only when the size is another: setting it clears the picture.
 * @param {HTMLCanvasElement} canvas
 * @param {Size} size
 */
function resizeCanvas(canvas, { width, height }) {
  const ratio = window.devicePixelRatio || 1;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width === wide && canvas.height === tall) return;
  canvas.width = wide;
  canvas.height = tall;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/**
 * @param {HeatParts} parts
 * @param {HeatState} state
 */
function placeLines(parts, state) {
  placeLine(parts.hoverLine, state.pointed?.hovered ?? null, state);
  placeLine(parts.pinLine, state.pointed?.pinned ?? null, state);
}

/**
 * @param {HTMLElement} line
 * @param {number | null} index
 * @param {HeatState} state
 */
function placeLine(line, index, state) {
  line.hidden = index === null || !showsToken(state.zoomRange, index);
  if (index === null || line.hidden) return;
  line.style.left = `${(index - state.zoomRange.from) * state.scale}px`;
  line.style.width = `${Math.max(1, state.scale)}px`;
  line.style.top = `${state.head}px`;
  line.style.height = `${state.rows.length * state.row}px`;
}

/**
 * The scroll bar stands for the zoom range: its way is as long as the tokens that are out of view.
 * @param {HeatParts} parts
 * @param {HeatState} state
 */
function scrollTo(parts, state) {
  const { from, count } = state.zoomRange;
  const hidden = state.model.n - count;
  parts.scroller.scrollLeft = hidden > 0 ? (from / hidden) * state.room : 0;
  state.put = parts.scroller.scrollLeft;
}

/**
 * @param {HeatParts} parts
 * @param {HeatState} state
 * @param {HeatEvents} on
 */
function listen(parts, state, on) {
  const { scroller } = parts;
  scroller.addEventListener(
    "scroll",
    () => {
      // Where the view itself has put the bar, nothing was asked for.
      if (Math.abs(scroller.scrollLeft - state.put) < 1 || state.room === 0) return;
      state.put = scroller.scrollLeft;
      on.move({ ...state.zoomRange, from: (scroller.scrollLeft / state.room) * (state.model.n - state.zoomRange.count) }, true);
    },
    { passive: true },
  );
  // In the pane, not in the scroller: the scroll bar keeps its own drag.
  listenBrush(
    parts.pane,
    scroller,
    parts.band,
    {
      n: () => state.model.n,
      from: () => state.zoomRange.from,
      pitch: () => state.scale,
      at: (event) => tokenAt(scroller, state, event),
      pinned: () => state.pointed?.pinned ?? null,
    },
    on,
  );
}

/**
 * The token under the pointer; where many share a pixel, the one that is drawn there.
 * @param {HTMLElement} scroller
 * @param {HeatState} state
 * @param {MouseEvent} event
 * @returns {number | null}
 */
function tokenAt(scroller, state, event) {
  const area = scroller.getBoundingClientRect();
  const x = event.clientX - area.left;
  const row = state.rows[Math.floor((event.clientY - area.top - state.head) / state.row)];
  const ratio = window.devicePixelRatio || 1;
  const drawn = row?.columns?.[Math.floor(x * ratio)] ?? -1;
  if (drawn >= 0 && state.scale * ratio < 1) return drawn;
  const index = Math.floor(state.zoomRange.from + x / state.scale);
  return index >= 0 && index < state.model.n ? index : null;
}
