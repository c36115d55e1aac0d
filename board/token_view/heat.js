// The metrics × tokens heatmap: a row per metric on its own scale, drawn on a canvas that stands still while its track scrolls beneath.

import { colorAt } from "./color.js";
import { element, perFrame, perIdle } from "./dom.js";
import { rangeText, short } from "./format.js";
import { CELL, pixelsPerToken, ticksOf, tokenColumns } from "./heat_layout.js";

const ROW = 20;
/** Room for a second line under the name where the view is narrow. */
const TALL_ROW = 32;
const NARROW = 620;
const GAP = 2;
const AXIS = 18;
/** Pixels per token at the closest zoom. */
const CLOSEST = 28;
const SHADES = 128;
const TICK_GAP = 72;
/** Milliseconds of one frame that rows of a long response may take; the rest waits for the next frame. */
const PATIENCE = 12;

/**
 * The heatmap in `box`. `on` holds what it tells: hover(index or null), pin(index), metric(name). Call `show` with a model, `mark` with the
 * hovered and pinned tokens, `paint` after a change of theme, `choose` when the text takes another metric.
 */
export function createHeat(box, on) {
  const parts = heatSkeleton();
  const state = { model: null, colors: null, ink: [0, 0, 0], rows: [], zoom: 1, width: 0, scale: 1, row: ROW };
  box.append(parts.labels, parts.scroller, parts.readout);
  const redraw = perFrame(() => draw(parts, state, redraw));
  // The rows of another response wait until its text is on screen.
  const later = perIdle(redraw);
  const resized = new ResizeObserver(() => {
    layout(box, parts, state);
    redraw();
  });
  resized.observe(box);
  parts.scroller.addEventListener("scroll", redraw, { passive: true });
  listen(parts, state, on, (factor, x) => zoomBy(box, parts, state, factor, x, redraw));

  return {
    scroller: parts.scroller,
    show(model) {
      state.model = model;
      state.zoom = 1;
      state.rows = model.metrics.map((metric) => ({ metric, shades: null, columns: null, drawn: "" }));
      box.hidden = model.n === 0 || model.metrics.length === 0;
      drawLabels(parts, state, on);
      parts.scroller.scrollLeft = 0;
      layout(box, parts, state);
    },
    paint(colors, ink, faint) {
      Object.assign(state, { colors, ink, faint });
      for (const row of state.rows) row.shades = shadesOf(colors, row.metric);
      later();
    },
    /** A metric's range has changed. */
    rescaled() {
      for (const label of parts.labels.children) label.lastChild.textContent = "";
      for (const row of state.rows) row.drawn = "";
      redraw();
    },
    choose(name) {
      for (const label of parts.labels.children) label.setAttribute("aria-pressed", String(label.dataset.metric === name));
    },
    mark(hovered, pinned) {
      placeLine(parts.hoverLine, hovered, state);
      placeLine(parts.pinLine, pinned, state);
      drawReadout(parts, state, hovered ?? pinned);
      state.marks = { hovered, pinned };
    },
    reveal(index) {
      const left = index * state.scale;
      const { scrollLeft } = parts.scroller;
      if (left < scrollLeft || left + state.scale > scrollLeft + state.width) parts.scroller.scrollLeft = left - state.width / 2;
    },
    zoom(factor, around) {
      if (around !== null) parts.scroller.scrollLeft = (around + 0.5) * state.scale - state.width / 2;
      const x = around === null ? state.width / 2 : (around + 0.5) * state.scale - parts.scroller.scrollLeft;
      zoomBy(box, parts, state, factor, x, redraw);
    },
    close() {
      resized.disconnect();
      later.cancel();
      redraw.cancel();
    },
  };
}

function heatSkeleton() {
  const canvas = element("canvas", "tv-canvas", { "aria-hidden": "true" });
  const hoverLine = element("div", "tv-line tv-line-hover", { hidden: true });
  const pinLine = element("div", "tv-line tv-line-pin", { hidden: true });
  const track = element("div", "tv-track", {}, canvas, hoverLine, pinLine);
  const label = "every metric of every token; arrow keys move, Enter pins, plus and minus zoom";
  const scroller = element("div", "tv-heat-scroll", { tabIndex: 0, role: "group", "aria-label": label }, track);
  const readout = element("div", "tv-readout", { "aria-hidden": "true" });
  return { canvas, hoverLine, pinLine, track, scroller, readout, labels: element("div", "tv-labels") };
}

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

function drawReadout(parts, state, index) {
  state.rows.forEach(({ metric }, i) => {
    const text = index === null ? "" : short(metric.values[index]);
    const cell = parts.readout.children[i];
    if (cell.textContent !== text) cell.textContent = text;
  });
}

function layout(box, parts, state) {
  if (!state.model || box.hidden) return;
  const narrow = box.clientWidth < NARROW;
  box.toggleAttribute("data-narrow", narrow);
  state.row = narrow ? TALL_ROW : ROW;
  box.style.setProperty("--tv-row", `${state.row}px`);
  state.width = Math.max(1, parts.scroller.clientWidth);
  state.scale = pixelsPerToken(state.model.n, state.width, state.zoom, CLOSEST);
  // Floor: a track a fraction of a pixel too wide would bring up a scroll bar.
  parts.track.style.width = `${Math.max(state.width, Math.floor(state.model.n * state.scale))}px`;
  parts.track.style.height = `${heightOf(state)}px`;
  const ratio = window.devicePixelRatio || 1;
  const { canvas } = parts;
  canvas.style.width = `${state.width}px`;
  canvas.style.height = `${heightOf(state)}px`;
  canvas.width = Math.round(state.width * ratio);
  canvas.height = Math.round(heightOf(state) * ratio);
  if (state.marks) {
    placeLine(parts.hoverLine, state.marks.hovered, state);
    placeLine(parts.pinLine, state.marks.pinned, state);
  }
}

function heightOf(state) {
  return state.rows.length * state.row + AXIS;
}

function placeLine(line, index, state) {
  line.hidden = index === null;
  if (index === null) return;
  line.style.left = `${index * state.scale}px`;
  line.style.width = `${Math.max(1, state.scale)}px`;
  line.style.height = `${state.rows.length * state.row}px`;
}

function zoomBy(box, parts, state, factor, x, redraw) {
  if (!state.model || state.model.n === 0) return;
  const token = (parts.scroller.scrollLeft + x) / state.scale;
  const most = Math.max(1, (CLOSEST * state.model.n) / state.width);
  state.zoom = factor === 0 ? 1 : Math.min(most, Math.max(1, state.zoom * factor));
  layout(box, parts, state);
  parts.scroller.scrollLeft = token * state.scale - x;
  redraw();
}

function listen(parts, state, on, zoom) {
  const { scroller } = parts;
  let drag = null;
  const tokenAt = (event) => {
    const x = event.clientX - scroller.getBoundingClientRect().left + scroller.scrollLeft;
    const index = Math.floor(x / state.scale);
    return index >= 0 && index < state.model.n ? index : null;
  };
  scroller.onpointerdown = (event) => {
    drag = { x: event.clientX, from: scroller.scrollLeft, moved: false };
  };
  scroller.onpointermove = (event) => {
    if (drag && event.buttons === 1 && Math.abs(event.clientX - drag.x) > 4) drag.moved = true;
    if (drag?.moved) scroller.scrollLeft = drag.from + drag.x - event.clientX;
    else on.hover(tokenAt(event));
  };
  scroller.onpointerleave = () => {
    drag = null;
    on.hover(null);
  };
  scroller.onclick = (event) => {
    const moved = drag?.moved;
    drag = null;
    const index = tokenAt(event);
    if (!moved && index !== null) on.pin(index, event.shiftKey);
  };
  // Only with Ctrl (or a pinch, which arrives the same way): a plain wheel belongs to the page.
  scroller.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 200), event.clientX - scroller.getBoundingClientRect().left);
  }, { passive: false });
}

/** SHADES colours from the loud end below zero (diverging only) to the loud end above, as numbers for the canvas. */
function shadesOf(colors, metric) {
  const first = metric.scale === "diverging" ? -1 : 0;
  return Uint32Array.from({ length: SHADES }, (_, i) => packed(colorAt(colors, metric.scale, first + (i / (SHADES - 1)) * (1 - first))));
}

function packed([r, g, b]) {
  return ((255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
}

function draw(parts, state, again) {
  const context = parts.canvas.getContext("2d");
  const { width, height } = parts.canvas;
  if (!state.colors || !state.model || width === 0 || height === 0) return;
  const ratio = width / state.width;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const ready = prepare(parts, state, ratio, width);
  state.rows.forEach((row, i) => {
    if (row.columns === null) return;
    const top = Math.round(i * state.row * ratio);
    const bottom = Math.round(((i + 1) * state.row - GAP) * ratio);
    paintRow(pixels, width, top, bottom, row, row.columns, state, ratio);
  });
  context.putImageData(image, 0, 0);
  drawAxis(context, parts, state, ratio);
  if (!ready) again();
}

/** Works out what each row shows, for a few milliseconds; false when rows are left for the next frame. */
function prepare(parts, state, ratio, width) {
  const until = performance.now() + PATIENCE;
  const offset = parts.scroller.scrollLeft * ratio;
  const wanted = `${offset} ${state.scale * ratio} ${width}`;
  for (const [i, row] of state.rows.entries()) {
    if (row.drawn === wanted) continue;
    if (performance.now() > until) return false;
    const { metric } = row;
    row.columns = tokenColumns(metric.places, metric.cells, offset, state.scale * ratio, width);
    row.drawn = wanted;
    const range = parts.labels.children[i].lastChild;
    if (range.textContent === "") range.textContent = rangeText(metric);
  }
  return true;
}

function paintRow(pixels, width, top, bottom, row, columns, state, ratio) {
  const { metric, shades } = row;
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
    const shade = shades[shadeIndex(metric, token)];
    for (let y = top; y < bottom; y += 1) pixels[y * width + x] = shade;
    // An infinity has no place on a scale: the loud end, with a bar in the ink of the text across its middle.
    const middle = Math.round((top + bottom) / 2);
    if (cell === CELL.infinite) for (let y = middle - Math.round(2 * ratio); y < middle + ratio; y += 1) pixels[y * width + x] = ink;
  }
}

function shadeIndex(metric, token) {
  const at = metric.places[token];
  return Math.round((metric.scale === "diverging" ? (at + 1) / 2 : at) * (SHADES - 1));
}

/** Missing: diagonal hatch. Masked: a dotted middle line. Both leave the page's own colour, and neither looks like a quiet zero. */
function hatchColumn(pixels, width, x, top, bottom, cell, color, ratio) {
  const period = Math.round(5 * ratio);
  if (cell === CELL.masked) {
    if (Math.floor(x / ratio) % 3 === 0) pixels[Math.round((top + bottom) / 2) * width + x] = color;
    return;
  }
  for (let y = top; y < bottom; y += 1) if ((x + y) % period < ratio) pixels[y * width + x] = color;
}

function drawAxis(context, parts, state, ratio) {
  const first = Math.floor(parts.scroller.scrollLeft / state.scale);
  const last = Math.min(state.model.n, Math.ceil((parts.scroller.scrollLeft + state.width) / state.scale));
  const style = getComputedStyle(parts.scroller);
  context.save();
  context.scale(ratio, ratio);
  context.fillStyle = style.color;
  context.globalAlpha = 0.65;
  context.font = `11px ${style.fontFamily}`;
  context.textBaseline = "bottom";
  const top = state.rows.length * state.row;
  for (const position of ticksOf(state.model.start + first + 1, state.model.start + last, state.scale, TICK_GAP)) {
    const x = (position - state.model.start - 0.5) * state.scale - parts.scroller.scrollLeft;
    const text = position.toLocaleString("en-US");
    const half = context.measureText(text).width / 2;
    context.fillRect(Math.round(x), top, 1, 3);
    context.fillText(text, Math.min(state.width - 2 * half, Math.max(0, x - half)), top + AXIS - 1);
  }
  context.restore();
}
