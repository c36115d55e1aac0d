// The timeline of one prompt: points that can be read under the pointer and by keys, and chosen.

import { numberText } from "../curves/number_text.js";
import { whenGone } from "../leaving.js";
import { parseColor } from "../token_view/color.js";
import { alongVisits, ends, nearest, pixels, placed, reachOf, roomy, withinVisit } from "./layout.js";
import { MARGIN, paint, scale } from "./paint.js";

/** @import { Mounted, Parent } from "../streamlit" */
/** @import { Drawn, Meta, Sent } from "./types" */

/** @typedef {{ numRows: number; getChild(name: string): { toArray(): unknown } | null }} Table */
/** @typedef {{ meta: Meta; points: Table; visits: Table; place: { chosen: number[]; at: string } }} Data */

/**
 * @typedef {object} State
 * @property {HTMLElement} root
 * @property {HTMLElement} told
 * @property {HTMLElement} legend what the colours mean
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} over
 * @property {Sent} sent
 * @property {Data["place"]} place
 * @property {Drawn | null} drawn
 * @property {number | null} at the point that is looked at
 * @property {(key: number) => void} pick
 * @property {() => void} stop
 */

const HEIGHT = 240;
const REACH = 26;
const STOPS = 9; // of the scale of colours
const NAMES = ["A", "B"];

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();

/** @param {Mounted<Data>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const sent = read(data);
  const state = states.get(parentElement) ?? build(parentElement, sent);
  states.set(parentElement, state);
  const before = state.at === null ? null : state.sent.key[state.at];
  const at = before === null ? -1 : sent.key.indexOf(before);
  Object.assign(state, { sent, place: data.place, at: at < 0 ? null : at });
  state.pick = (key) => setTriggerValue("picked", key);
  draw(state);
  return whenGone(parentElement, () => {
    states.delete(parentElement);
    state.stop();
    state.root.remove();
  });
}

/** @param {Data} data */
function read({ meta, points, visits }) {
  /** @param {Table} table @param {string} name */
  const numbers = (table, name) => /** @type {Float64Array} */ (table.getChild(name)?.toArray() ?? new Float64Array());
  const [step, mean, best] = ["step", "mean", "best"].map((name) => numbers(visits, name));
  const [key, height, color, size] = ["key", "height", "color", "size"].map((name) => numbers(points, name));
  const visit = /** @type {Int32Array} */ (points.getChild("visit")?.toArray() ?? new Int32Array());
  return { meta, step, mean, best, visit, key, height, color, size };
}

/**
 * What stays while the data changes: the line of words, the picture, what lies over it, and listening.
 * @param {Parent} parentElement
 * @param {Sent} sent
 * @returns {State}
 */
function build(parentElement, sent) {
  const [root, told, legend, head, plot, over] = ["", "-told", "-legend", "-head", "-plot", "-over"].map((name) =>
    div(`timeline${name}`),
  );
  const canvas = document.createElement("canvas");
  plot.append(canvas, over);
  head.append(told, legend);
  root.append(head, plot);
  root.tabIndex = 0;
  root.setAttribute("role", "group");
  told.setAttribute("aria-live", "polite");
  /** @type {State} */
  const state = {
    root,
    told,
    legend,
    canvas,
    over,
    sent,
    place: { chosen: [], at: "" },
    drawn: null,
    at: null,
    pick: () => {},
    stop: () => {},
  };
  plot.onpointermove = (event) => look(state, under(state, event));
  plot.onpointerleave = () => look(state, null);
  plot.onclick = (event) => choose(state, under(state, event));
  /** @param {KeyboardEvent} event */
  const listen = (event) => press(state, event);
  document.addEventListener("keydown", listen);
  const watching = new ResizeObserver(() => draw(state));
  parentElement.append(root);
  watching.observe(root);
  state.stop = () => {
    document.removeEventListener("keydown", listen);
    watching.disconnect();
  };
  return state;
}

/** @param {State} state */
function draw(state) {
  const { sent, canvas, root } = state;
  const width = root.clientWidth;
  if (!width) return;
  const scale = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(HEIGHT * scale) });
  Object.assign(canvas.style, { width: `${width}px`, height: `${HEIGHT}px` });
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(scale, scale);
  state.drawn = laidOut(sent, width);
  paint(context, sent, state.drawn, theme(state));
  explain(state);
  root.setAttribute("aria-label", `${sent.meta.words.height} of ${sent.key.length} rollouts over ${sent.step.length} steps`);
  mark(state);
}

/**
 * @param {Sent} sent
 * @param {number} width
 * @returns {Drawn}
 */
function laidOut(sent, width) {
  const [spanX, spanY] = [roomySteps(ends(sent.step)), roomy(ends(sent.height))];
  const scaleX = pixels(spanX, MARGIN.left, width - MARGIN.right);
  const scaleY = pixels(spanY, HEIGHT - MARGIN.bottom, MARGIN.top);
  const visitX = sent.step.map(scaleX);
  return { width, height: HEIGHT, spanX, spanY, scaleX, scaleY, visitX, places: placed(sent, visitX, scaleY) };
}

/**
 * @param {[number, number] | null} between
 * @returns {[number, number]}
 */
function roomySteps(between) {
  const [first, last] = between ?? [0, 0];
  const room = (last / 2 - first / 2) * 0.05 || 0.5;
  return [first - room, last + room];
}

/**
 * The scale of the colours: which number they are, and its ends; nothing where points have none.
 * @param {State} state
 */
function explain(state) {
  const { legend, sent } = state;
  const between = ends(sent.color);
  legend.hidden = !sent.meta.words.color || !between;
  if (legend.hidden || !between) return;
  const color = scale(theme(state));
  const bar = div("timeline-scale");
  const stops = between[0] === between[1] ? [0.5, 0.5] : Array.from({ length: STOPS }, (_, at) => at / (STOPS - 1));
  bar.style.background = `linear-gradient(to right, ${stops.map(color).join(", ")})`;
  const word = (/** @type {string} */ text) => Object.assign(document.createElement("span"), { textContent: text });
  legend.replaceChildren(word(sent.meta.words.color), word(numberText(between[0])), bar, word(numberText(between[1])));
}

/**
 * The rings over the points that are chosen or looked at, the line at the chosen step, and what is said.
 * @param {State} state
 */
function mark(state) {
  const { over, sent, place, drawn } = state;
  if (!drawn) return;
  const visit = sent.meta.steps.indexOf(place.at);
  const rings = place.chosen.map((key, nth) => ring(drawn, sent.key.indexOf(key), NAMES[nth]));
  const looked = ring(drawn, state.at ?? -1, "");
  looked?.classList.add("looked");
  over.replaceChildren(...[visit < 0 ? null : upright(drawn, visit), ...rings, looked].filter((one) => one !== null));
  state.told.textContent = state.at === null ? overview(sent) : told(sent, state.at);
}

/**
 * @param {Drawn} drawn
 * @param {number} visit
 */
function upright(drawn, visit) {
  const line = div("timeline-step");
  line.style.left = `${drawn.visitX[visit]}px`;
  return line;
}

/**
 * @param {Drawn} drawn
 * @param {number} at
 * @param {string} name
 */
function ring({ places }, at, name) {
  if (at < 0) return null;
  const made = div("timeline-ring");
  const size = 2 * places.radius[at] + 9;
  Object.assign(made.style, { left: `${places.x[at]}px`, top: `${places.y[at]}px`, width: `${size}px`, height: `${size}px` });
  if (name) made.append(Object.assign(div("timeline-name"), { textContent: name }));
  return made;
}

/** @param {Sent} sent */
function overview({ meta: { words, steps }, size }) {
  const parts = [`${words.height} by step, ${steps.length.toLocaleString("en")} steps`];
  const reach = reachOf(steps.length);
  if (reach) parts.push(`lines are means of ${2 * reach + 1} steps`);
  const between = ends(size);
  if (words.size && between) parts.push(`size: ${words.size}, ${numberText(between[0])} to ${numberText(between[1])}`);
  return parts.join(" · ");
}

/**
 * @param {Sent} sent
 * @param {number} at
 */
function told({ meta: { words, steps, counts }, visit, height, color, size, mean }, at) {
  const one = visit[at];
  const of = `step ${steps[one]}, ${counts[one] === 1 ? "1 rollout" : `${counts[one].toLocaleString("en")} rollouts`}`;
  const own = [`${words.height} ${numberText(height[at])}, mean ${numberText(mean[one])}`];
  if (words.color) own.push(`${words.color} ${numberText(color[at])}`);
  if (words.size) own.push(`${words.size} ${numberText(size[at])}`);
  return [of, ...own].join(" · ");
}

/**
 * @param {State} state
 * @param {PointerEvent | MouseEvent} event
 */
function under({ canvas, drawn }, event) {
  if (!drawn) return null;
  const { left, top } = canvas.getBoundingClientRect();
  return nearest(drawn.places, event.clientX - left, event.clientY - top, REACH);
}

/**
 * @param {State} state
 * @param {number | null} at
 */
function look(state, at) {
  if (state.at === at) return;
  state.at = at;
  mark(state);
}

/**
 * @param {State} state
 * @param {number | null} at
 */
function choose(state, at) {
  if (at !== null) state.pick(state.sent.key[at]);
}

/**
 * J and K wherever the reader is but in a field of text; arrows and Enter where the timeline has the focus, or nothing has.
 * @param {State} state
 * @param {KeyboardEvent} event
 */
function press(state, event) {
  const into = event.composedPath()[0];
  const elsewhere = into instanceof Element && into.closest("input, textarea, select, [contenteditable], [role=listbox], dialog");
  if (elsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
  const own = into === state.root || into === document.body;
  const { at, sent } = state;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "j" || (own && key === "ArrowRight")) look(state, alongVisits(sent, at, 1));
  else if (key === "k" || (own && key === "ArrowLeft")) look(state, alongVisits(sent, at, -1));
  else if (into === state.root && key === "ArrowUp" && at !== null) look(state, withinVisit(sent, at, 1));
  else if (into === state.root && key === "ArrowDown" && at !== null) look(state, withinVisit(sent, at, -1));
  else if (own && key === "Enter") choose(state, at);
  else return;
  event.preventDefault();
}

/** @param {State} state */
function theme({ root, told }) {
  const styles = getComputedStyle(root);
  const background = parseColor(styles.getPropertyValue("--st-background-color")) ?? [255, 255, 255];
  return { background, text: styles.color, quiet: getComputedStyle(told).color, font: styles.fontFamily };
}

/** @param {string} name */
function div(name) {
  const made = document.createElement("div");
  made.className = name;
  return made;
}
