// The strip of all steps: bars in one path, the chosen one laid over them, marks above them, and under the pointer what a bar stands for.

import { whenGone } from "../leaving.js";

/** @import { Mounted, Parent } from "../streamlit" */

/**
 * What is to be seen in the steps of one bar: a finding is a filled diamond, a warning a filled triangle, a note an empty ring.
 * @typedef {object} Mark
 * @property {number} at
 * @property {string[]} texts
 * @property {"error" | "finding" | "warning" | "note"} kind a finding that is an error has a colour of its own
 */

/**
 * @typedef {object} Bars
 * @property {string[]} steps
 * @property {string[]} means
 * @property {number[]} heights
 * @property {number | null} chosen
 * @property {string} measure
 * @property {string} caption
 * @property {Mark[]} marks in the order of their bars
 * @property {{ bar: string; chosen: string; warning: string; error: string }} colors
 */

/**
 * @typedef {object} State
 * @property {HTMLElement} root
 * @property {HTMLElement} caption
 * @property {HTMLElement} plot
 * @property {HTMLElement} marks
 * @property {HTMLElement} reasons
 * @property {HTMLElement} told
 * @property {SVGElement} svg
 * @property {SVGElement} path
 * @property {HTMLElement} chosen
 * @property {HTMLElement} hovered
 * @property {Bars} data
 * @property {string} drawn
 * @property {(at: number) => void} go
 */

const TRIANGLE = "M0.5 0.5H8.5L4.5 7.5z";
const DIAMOND = "M4.5 0L8.5 4L4.5 8L0.5 4z";
const RING = "M4.5 1.2a2.8 2.8 0 1 1 0 5.6a2.8 2.8 0 1 1 0-5.6z";
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
  if (state.drawn !== drawn || state.data.marks !== data.marks) mark(state, data);
  state.drawn = drawn;
  state.data = data;
  state.go = (at) => setTriggerValue("clicked", at);
  lay(state.chosen, data, data.chosen);
  state.root.setAttribute("aria-valuenow", String(data.chosen ?? 0));
  state.root.setAttribute(
    "aria-valuetext",
    data.chosen === null ? "" : [said(data, data.chosen), ...reasons(data, data.chosen)].join("; "),
  );
  return whenGone(parentElement, () => {
    states.delete(parentElement);
    state.root.remove();
  });
}

/**
 * What stays while the data changes: the caption, the bars, the chosen one, and listening.
 * @param {Parent} parentElement
 * @param {Bars} data
 * @returns {State}
 */
function build(parentElement, data) {
  const [root, caption, plot, marks] = [div("strip"), div("strip-caption"), div("strip-plot"), div("strip-marks")];
  const [chosen, hovered, reasons, told] = [div("strip-over"), div("strip-over"), div("strip-reasons"), div("strip-told")];
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.append(path);
  plot.append(svg, hovered, chosen, reasons);
  root.append(caption, marks, plot, told);
  told.id = "strip-told";
  root.setAttribute("aria-describedby", told.id);
  root.tabIndex = 0;
  root.setAttribute("role", "slider");
  root.setAttribute("aria-valuemin", "0");
  /** @type {State} */
  const state = { root, caption, plot, marks, reasons, told, path, svg, chosen, hovered, data, drawn: "", go: () => {} };
  hovered.hidden = true;
  reasons.hidden = true;
  for (const part of [plot, marks]) {
    part.onpointermove = (event) => hover(state, barAt(state, event));
    part.onpointerleave = () => hover(state, null);
    part.onclick = (event) => state.go(barAt(state, event));
  }
  root.onkeydown = (event) => {
    const at = target(state.data, event.key);
    if (at === null) return;
    event.preventDefault();
    if (at >= 0 && at < state.data.heights.length) state.go(at);
  };
  parentElement.append(root);
  return state;
}

/**
 * The bar that a key leads to: the next one, or with Page Up and Page Down the next that is marked. Null for any other key.
 * @param {Bars} data
 * @param {string} key
 * @returns {number | null}
 */
function target({ chosen, marks }, key) {
  if (chosen === null) return null;
  if (key === "ArrowLeft") return chosen - 1;
  if (key === "ArrowRight") return chosen + 1;
  if (key === "PageUp") return marks.find(({ at }) => at > chosen)?.at ?? -1;
  if (key === "PageDown") return marks.findLast(({ at }) => at < chosen)?.at ?? -1;
  return null;
}

/**
 * @param {State} state
 * @param {Bars} data
 */
function mark(state, { marks, heights, colors }) {
  state.marks.replaceChildren(
    ...marks.map(({ at, kind }) => {
      const color = kind === "error" ? colors.error : kind === "note" ? "currentColor" : colors.warning;
      const svg = document.createElementNS(SVG, "svg");
      const path = document.createElementNS(SVG, "path");
      svg.setAttribute("class", "strip-mark");
      svg.setAttribute("viewBox", "0 0 9 8");
      svg.style.left = `${((at + 0.5) * 100) / heights.length}%`;
      path.setAttribute("d", kind === "note" ? RING : kind === "warning" ? TRIANGLE : DIAMOND);
      path.style.fill = kind === "note" ? "none" : color;
      path.style.stroke = color;
      svg.append(path);
      return svg;
    }),
  );
  state.marks.style.maxWidth = state.plot.style.maxWidth;
  state.told.textContent = marks.length ? ["Marked:", ...marks.flatMap(({ texts }) => texts)].join("\n") : "";
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
  state.caption.textContent = at === null ? state.data.caption : said(state.data, at);
  const texts = at === null ? [] : reasons(state.data, at);
  state.reasons.hidden = !texts.length;
  state.reasons.textContent = texts.join("\n");
}

/**
 * @param {Bars} data
 * @param {number} at
 */
function reasons({ marks }, at) {
  return marks.find((one) => one.at === at)?.texts ?? [];
}

/**
 * @param {Bars} data
 * @param {number} at
 */
function said({ steps, means, measure }, at) {
  return `step ${steps[at]}: ${measure} ${means[at]}`;
}

/** @param {string} name */
function div(name) {
  const made = document.createElement("div");
  made.className = name;
  return made;
}
