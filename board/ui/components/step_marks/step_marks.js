// Lays a mark of the chosen step over Plotly charts of this page, and tells which step is clicked in one. The charts stay as they are.

import { whenGone } from "../leaving.js";

/** @import { Mounted, Parent } from "../streamlit" */

/**
 * @typedef {{ x?: number; y: number; color: string; text?: string }} GivenDot
 * @typedef {{ x: number; text?: string; cased?: boolean; dots: GivenDot[] }} Mark
 * @typedef {{ x: number; y: number; color: string; text?: string; share: number }} Dot
 * @typedef {{ family: string; color: string }} Font
 * @typedef {{ _offset: number; _length: number; l2p(value: number): number }} Axis
 * @typedef {{ width: number; height: number; font: Font; xaxis: Axis; yaxis: Axis }} Layout
 * @typedef {{ points: { x: unknown; id?: unknown }[] }} Click
 * @typedef {HTMLElement & { _fullLayout: Layout; on(name: string, listener: (event: Click) => void): void }} Chart
 */

/**
 * @typedef {object} State
 * @property {Record<string, Mark | null>} marks
 * @property {(x: number) => void} click
 * @property {Map<string, SVGElement>} overlays
 * @property {WeakMap<Chart, Mark | null>} marked
 * @property {WeakSet<Chart>} known
 * @property {() => void} refresh
 * @property {() => void} stop
 */

const LABEL_EDGE = 0.08; // so near an end of the axis (as a share of it) a label stands beside its line, not across it
const VALUE_EDGE = 0.6; // beyond this share of the axis a value stands to the left of its dot
const VALUE_HEIGHT = 14;
const PAGE = "light-dark(#fcfdfc, #0c1110)"; // behind a value that lies over a line: the backgroundColors of streamlit.toml
const MARK = "rgb(128 136 140 / 0.9)";

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();

/** @param {Mounted<{ marks: Record<string, Mark | null> }>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const state = states.get(parentElement) ?? watch();
  states.set(parentElement, state);
  state.marks = data.marks;
  state.click = (x) => setTriggerValue("clicked", x);
  state.refresh();
  return whenGone(parentElement, () => {
    states.delete(parentElement);
    state.stop();
  });
}

/**
 * The charts come and go as the page is drawn: each is marked once it is there, and again whenever Plotly has drawn it anew.
 * @returns {State}
 */
function watch() {
  const nothing = () => {};
  const found = { overlays: new Map(), marked: new WeakMap(), known: new WeakSet() };
  /** @type {State} */
  const state = { marks: {}, ...found, click: nothing, refresh: nothing, stop: nothing };
  let waiting = 0;
  const soon = () => {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      state.refresh();
    });
  };
  const observer = new MutationObserver(soon);
  state.refresh = () => {
    for (const [key, mark] of Object.entries(state.marks)) {
      /** @type {Chart | null} */
      const chart = document.querySelector(`.st-key-${CSS.escape(key)} .js-plotly-plot`);
      if (!chart?._fullLayout?.xaxis || !chart.on) continue;
      if (!state.known.has(chart)) listen(state, key, chart);
      if (state.marked.get(chart) !== mark || !state.overlays.get(key)?.isConnected) place(state, key, chart);
    }
    for (const [key, overlay] of state.overlays) if (!(key in state.marks)) overlay.remove();
  };
  state.stop = () => {
    observer.disconnect();
    cancelAnimationFrame(waiting);
    for (const overlay of state.overlays.values()) overlay.remove();
    state.marks = {};
  };
  observer.observe(document.body, { childList: true, subtree: true });
  return state;
}

/**
 * @param {State} state
 * @param {string} key
 * @param {Chart} chart
 */
function listen(state, key, chart) {
  state.known.add(chart);
  chart.on("plotly_afterplot", () => {
    if (key in state.marks) place(state, key, chart);
  });
  chart.on("plotly_click", ({ points }) => {
    if (key in state.marks && points.length) state.click(Number(points[0].id ?? points[0].x));
  });
}

/**
 * @param {State} state
 * @param {string} key
 * @param {Chart} chart
 */
function place(state, key, chart) {
  const mark = state.marks[key];
  state.marked.set(chart, mark);
  const overlay = overlayOf(state, key, chart);
  if (!overlay) return;
  const { width, height } = chart._fullLayout;
  overlay.setAttribute("width", String(width));
  overlay.setAttribute("height", String(height));
  overlay.replaceChildren(...(mark ? shapes(mark, chart._fullLayout) : []));
}

/**
 * Above the data, beneath title, labels and what Plotly shows on hover.
 * @param {State} state
 * @param {string} key
 * @param {Chart} chart
 * @returns {SVGElement | null}
 */
function overlayOf(state, key, chart) {
  const container = chart.querySelector(".svg-container");
  const layers = container?.querySelectorAll(":scope > .main-svg");
  if (!container || !layers?.length) return null;
  let overlay = state.overlays.get(key);
  if (overlay?.parentElement !== container) {
    overlay?.remove();
    overlay = node("svg", { class: "step-mark", "aria-hidden": "true" });
    overlay.style.cssText = "position: absolute; top: 0; left: 0; pointer-events: none; overflow: visible";
    container.insertBefore(overlay, layers[1] ?? null);
    state.overlays.set(key, overlay);
  }
  return overlay;
}

/**
 * @param {Mark} mark
 * @param {Layout} layout
 * @returns {SVGElement[]}
 */
function shapes(mark, { xaxis, yaxis, font }) {
  /** @param {number} value */
  const across = (value) => xaxis._offset + xaxis.l2p(value);
  /** @param {number} value */
  const down = (value) => yaxis._offset + yaxis.l2p(value);
  /** @param {number} value */
  const shareOf = (value) => xaxis.l2p(value) / xaxis._length;
  /** @param {number} share */
  const isIn = (share) => share >= 0 && share <= 1; // not where the reader has zoomed past it
  const [top, bottom] = [yaxis._offset, yaxis._offset + yaxis._length];
  const dots = mark.dots
    .map((dot) => ({ ...dot, x: across(dot.x ?? mark.x), y: down(dot.y), share: shareOf(dot.x ?? mark.x) }))
    .filter((dot) => isIn(dot.share) && dot.y >= top && dot.y <= bottom);
  const told = [
    ...dots.map((dot) => node("circle", { cx: dot.x, cy: dot.y, r: 4, fill: dot.color })),
    ...values(dots, top, font),
  ];
  const share = shareOf(mark.x);
  if (!mark.text || !isIn(share)) return told;
  const x = across(mark.x);
  const ends = { x1: x, x2: x, y1: top, y2: bottom };
  const line = node("line", { ...ends, stroke: mark.cased ? "white" : MARK, "stroke-width": 1 });
  const casing = mark.cased ? [node("line", { ...ends, stroke: "black", "stroke-width": 3 })] : [];
  return [...casing, line, ...told, label(mark.text, x, top, share, font)];
}

/**
 * What each line is worth at its dot, one above the other where dots are close; towards the middle of the plot, so that it has room, and
 * below its top, above which the step is named.
 * @param {Dot[]} dots
 * @param {number} top
 * @param {Font} font
 * @returns {SVGElement[]}
 */
function values(dots, top, font) {
  const upwards = dots.filter((dot) => dot.text).sort((one, other) => other.y - one.y);
  const lines = upwards.map((dot) => dot.y - 6);
  for (let at = 1; at < lines.length; at++) lines[at] = Math.min(lines[at], lines[at - 1] - VALUE_HEIGHT);
  for (let at = lines.length - 1, free = top + VALUE_HEIGHT - 2; at >= 0; at--, free += VALUE_HEIGHT)
    lines[at] = Math.max(lines[at], free);
  return upwards.map((dot, at) => {
    const before = dot.share > VALUE_EDGE;
    const place = { x: dot.x + (before ? -7 : 7), y: lines[at], "text-anchor": before ? "end" : "start", class: "value" };
    const made = node("text", { ...place, "font-size": 12, "font-family": font.family, fill: font.color });
    made.style.cssText = `paint-order: stroke; stroke: ${PAGE}; stroke-width: 5px; stroke-linejoin: round; font-variant-numeric: tabular-nums`;
    made.textContent = dot.text ?? "";
    return made;
  });
}

/**
 * @param {string} text
 * @param {number} x
 * @param {number} top
 * @param {number} share
 * @param {Font} font
 * @returns {SVGElement}
 */
function label(text, x, top, share, font) {
  const anchor = share < LABEL_EDGE ? "start" : share > 1 - LABEL_EDGE ? "end" : "middle";
  const made = node("text", {
    x,
    y: top - 5,
    class: "step",
    "text-anchor": anchor,
    "font-size": 11,
    "font-family": font.family,
    fill: font.color,
  });
  made.textContent = text;
  return made;
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
function node(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  return made;
}
