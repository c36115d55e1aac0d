// The strip of all steps: bars in one path, the chosen one laid over them, and under the pointer what a bar stands for.

/** @import { Mounted, Parent } from "../streamlit" */

/**
 * @typedef {object} Bars
 * @property {string[]} steps
 * @property {string[]} means
 * @property {number[]} heights
 * @property {number | null} chosen
 * @property {string} measure
 * @property {string} caption
 * @property {{ bar: string; chosen: string }} colors
 */

/**
 * @typedef {object} State
 * @property {HTMLElement} root
 * @property {HTMLElement} caption
 * @property {HTMLElement} plot
 * @property {SVGElement} svg
 * @property {SVGElement} path
 * @property {HTMLElement} chosen
 * @property {HTMLElement} hovered
 * @property {Bars} data
 * @property {string} drawn
 * @property {(at: number) => void} go
 */

const WIDEST = 14; // pixels of a bar and its gap; of few steps the strip is short
const BAR_SHARE = 0.85;
const SVG = "http://www.w3.org/2000/svg";

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();

/** @param {Mounted<Bars>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const state = states.get(parentElement) ?? build(parentElement, data);
  states.set(parentElement, state);
  const drawn = data.heights.join();
  if (state.drawn !== drawn) draw(state, data);
  state.drawn = drawn;
  state.data = data;
  state.go = (at) => setTriggerValue("clicked", at);
  lay(state.chosen, data, data.chosen);
  state.root.setAttribute("aria-valuenow", String(data.chosen ?? 0));
  state.root.setAttribute("aria-valuetext", data.chosen === null ? "" : told(data, data.chosen));
  return () => {
    states.delete(parentElement);
    state.root.remove();
  };
}

/**
 * What stays while the data changes: the caption, the bars, the chosen one, and listening.
 * @param {Parent} parentElement
 * @param {Bars} data
 * @returns {State}
 */
function build(parentElement, data) {
  const [root, caption, plot] = [div("strip"), div("strip-caption"), div("strip-plot")];
  const [chosen, hovered] = [div("strip-over"), div("strip-over")];
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.append(path);
  plot.append(svg, hovered, chosen);
  root.append(caption, plot);
  root.tabIndex = 0;
  root.setAttribute("role", "slider");
  root.setAttribute("aria-valuemin", "0");
  /** @type {State} */
  const state = { root, caption, plot, path, svg, chosen, hovered, data, drawn: "", go: () => {} };
  hovered.hidden = true;
  plot.onpointermove = (event) => hover(state, barAt(state, event));
  plot.onpointerleave = () => hover(state, null);
  plot.onclick = (event) => state.go(barAt(state, event));
  root.onkeydown = (event) => {
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (!by || state.data.chosen === null) return;
    event.preventDefault();
    const at = state.data.chosen + by;
    if (at >= 0 && at < state.data.heights.length) state.go(at);
  };
  parentElement.append(root);
  return state;
}

/**
 * @param {State} state
 * @param {Bars} data
 */
function draw(state, { heights, caption, colors }) {
  const gap = (1 - BAR_SHARE) / 2;
  state.svg.setAttribute("viewBox", `0 0 ${heights.length} 1`);
  state.path.setAttribute("fill", colors.bar);
  state.path.setAttribute("d", heights.map((high, at) => `M${at + gap} 1V${1 - high}h${BAR_SHARE}V1z`).join(""));
  state.plot.style.maxWidth = `${heights.length * WIDEST}px`;
  state.caption.textContent = caption;
  state.root.setAttribute("aria-label", caption);
  state.root.setAttribute("aria-valuemax", String(heights.length - 1));
  state.chosen.style.background = colors.chosen;
  state.hovered.style.background = "color-mix(in srgb, currentColor 45%, transparent)";
}

/**
 * @param {HTMLElement} over
 * @param {Bars} data
 * @param {number | null} at
 */
function lay(over, { heights }, at) {
  over.hidden = at === null;
  if (at === null) return;
  const percent = 100 / heights.length;
  Object.assign(over.style, {
    left: `${(at + 0.5) * percent}%`,
    width: `${BAR_SHARE * percent}%`,
    height: `${100 * heights[at]}%`,
  });
}

/**
 * The whole column of a bar is its own, however low it is.
 * @param {State} state
 * @param {PointerEvent | MouseEvent} event
 */
function barAt({ plot, data }, event) {
  const { left, width } = plot.getBoundingClientRect();
  const at = Math.floor(((event.clientX - left) / width) * data.heights.length);
  return Math.min(Math.max(at, 0), data.heights.length - 1);
}

/**
 * @param {State} state
 * @param {number | null} at
 */
function hover(state, at) {
  lay(state.hovered, state.data, at);
  state.caption.textContent = at === null ? state.data.caption : told(state.data, at);
}

/**
 * @param {Bars} data
 * @param {number} at
 */
function told({ steps, means, measure }, at) {
  return `step ${steps[at]}: ${measure} ${means[at]}`;
}

/** @param {string} name */
function div(name) {
  const made = document.createElement("div");
  made.className = name;
  return made;
}
