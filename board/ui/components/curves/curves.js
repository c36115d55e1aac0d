// Curves over steps: all panels of a page in one component. Each is drawn when it comes near the window, and let go far from it.

import { whenGone } from "../leaving.js";
import { element, perFrame } from "../token_view/dom.js";
import { caption, cardParts, describe, runValues, showPin } from "./card.js";
import { columnsOf, GAP } from "./columns.js";
import { decode } from "./decode.js";
import { drawCross, drawMark, drawStill, labelRoom, overlay } from "./overlay.js";
import { askZoom, claim, leave, margin, pageState, point } from "./page_state.js";
import { EDGES, plot } from "./plot.js";
import { marksBeside, marksOf, nearestStep, neighbourStep, spoken } from "./readings.js";
import { stepAxis } from "./value_range.js";
import { showZoom, zoomBar } from "./zoom_bar.js";

/** @import { Mounted, Parent } from "../streamlit" */
/** @import { Acts, Card, Look, Range, Sent } from "./types" */

/** @typedef {{ card: Card; parts: import("./card.js").Parts; over: SVGElement; drawn: import("./plot.js").Plot | null; near: boolean; ready: boolean; stale: boolean }} Shown */

/**
 * @typedef {object} State
 * @property {HTMLElement} root
 * @property {import("./types").Meta} meta
 * @property {string} stamp
 * @property {Shown[]} shown
 * @property {Mounted<Sent>["setTriggerValue"]} trigger
 * @property {Look} look
 * @property {number} width of each plot, with its edges
 * @property {HTMLElement} live says what is under the crosshair when it is moved by key
 * @property {HTMLElement} bar
 * @property {Shown | null} zoomed the panel that was zoomed on
 * @property {() => void} stop
 */

const NEAR = "400px"; // below or above the window a panel is drawn already
const FAR = "2000px"; // so far from it a panel's canvas is let go: the browser looks at every canvas of the page in every frame
const BUDGET = 12; // milliseconds of preparing panels before the browser may do something else
const MOST = 3; // panels prepared in one frame: uPlot draws them after that, which no clock here sees
const DOUBLE = 250; // milliseconds in which a second click makes a double one
const LEAST_EDGE = 14;
const SPOKEN = 6; // panels that are read out at a step

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();
const page = pageState();

/** @param {Mounted<Sent>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const state = states.get(parentElement) ?? build(parentElement, data);
  states.set(parentElement, state);
  state.trigger = setTriggerValue;
  const look = lookOf(state.root);
  if (state.stamp !== data.meta.stamp || JSON.stringify(look) !== JSON.stringify(state.look)) fill(state, data, look);
  return whenGone(parentElement, () => {
    states.delete(parentElement);
    state.stop();
  });
}

/**
 * @param {Parent} parentElement
 * @param {Sent} data
 * @returns {State}
 */
function build(parentElement, data) {
  const root = element("div", "cv", { tabIndex: 0, role: "group", "aria-label": "Curves over steps" });
  parentElement.append(root);
  const nothing = () => {};
  /** @type {State} */
  const state = {
    ...{ root, meta: data.meta, stamp: "", shown: [], trigger: nothing, look: lookOf(root), stop: nothing },
    ...{ live: element("p", "cv-live", { "aria-live": "polite" }), bar: element("div"), zoomed: null, width: 0 },
  };
  state.bar = zoomBar(actsOf(state, null));
  root.onkeydown = (event) => pressed(state, event);
  root.onblur = () => point(page, null);
  const drawing = perFrame(() => drawNear(state, drawing));
  const layout = perFrame(() => {
    lay(state);
    drawing();
  });
  const resized = new ResizeObserver(layout);
  resized.observe(root);
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const one = state.shown.find(({ parts }) => parts.root === target);
        if (one) one.near = isIntersecting;
      }
      drawing();
    },
    { rootMargin: `${NEAR} 0px` },
  );
  const left = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) if (!isIntersecting) letGo(state, target);
    },
    { rootMargin: `${FAR} 0px` },
  );
  watch.set(state, [seen, left]);
  const printing = () => {
    for (const one of state.shown) draw(state, one);
  };
  window.addEventListener("beforeprint", printing);
  page.listeners.set(state, (what) => (what === "margin" ? layout() : follow(state, what)));
  state.stop = () => {
    for (const observer of [resized, seen, left]) observer.disconnect();
    window.removeEventListener("beforeprint", printing);
    leave(page, state);
    clear(state);
    root.remove();
  };
  return state;
}

/** @type {WeakMap<State, IntersectionObserver[]>} */
const watch = new WeakMap();

/**
 * New panels, or new colours: all are laid out anew and drawn when they come near.
 * @param {State} state
 * @param {Sent} data
 * @param {Look} look
 */
function fill(state, { meta, numbers }, look) {
  const near = new Set(state.shown.filter((one) => one.near).map(({ card }) => card.key));
  clear(state);
  Object.assign(state, { meta, look, stamp: meta.stamp });
  const acts = actsOf(state, null);
  const height = meta.height + EDGES.top + EDGES.bottom;
  state.shown = decode(meta, numbers.getChildAt(0).toArray()).map((card) => {
    const parts = cardParts(card, { height, pins: meta.pins, acts });
    return { card, parts, over: overlay(), drawn: null, near: near.has(card.key), ready: false, stale: false };
  });
  state.root.replaceChildren(...state.shown.map(({ parts }) => parts.root), state.live);
  claim(page, state, Math.max(LEAST_EDGE, ...state.shown.map(({ card }) => labelRoom(card))));
  lay(state);
  for (const one of state.shown) {
    caption(one.parts, one.card, null, []);
    for (const observer of watch.get(state) ?? []) observer.observe(one.parts.root);
  }
  for (const one of state.shown) if (one.near) draw(state, one); // what is in sight is there again before the browser paints
  follow(state, "choice");
}

/** @param {State} state */
function clear(state) {
  for (const observer of watch.get(state) ?? []) observer.disconnect();
  for (const { drawn } of state.shown) drawn?.u.destroy();
  state.shown = [];
}

/**
 * All panels are equally wide, and so are their plots.
 * @param {State} state
 */
function lay(state) {
  const columns = columnsOf(state.root.clientWidth, state.shown.length, state.meta);
  state.root.toggleAttribute("data-alone", state.shown.length === 1 && columns > 1);
  state.root.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  state.root.style.columnGap = `${GAP}px`;
  state.width = state.shown[0]?.parts.plot.clientWidth ?? 0;
  state.root.style.setProperty("--drawn", `${state.width}px`);
  for (const one of state.shown) {
    one.drawn?.resize(state.width, margin(page));
  }
}

/**
 * Draws what came near, a few panels and some milliseconds at a time.
 * @param {State} state
 * @param {() => void} again
 */
function drawNear(state, again) {
  const begin = performance.now();
  let made = 0;
  for (const one of state.shown) {
    if (!one.near || one.drawn) continue;
    if (made === MOST || performance.now() - begin > BUDGET) return again();
    draw(state, one);
    made += 1;
  }
  for (const one of state.shown) if (one.near && one.stale) redraw(one);
}

/**
 * @param {State} state
 * @param {Shown} one
 */
function draw(state, one) {
  const { width } = state;
  if (one.drawn || width === 0) return;
  const height = state.meta.height + EDGES.top + EDGES.bottom;
  const acts = actsOf(state, one);
  const range = page.zoom ?? stepAxis(state.meta.span);
  const after = () => {
    one.ready = true;
    redraw(one);
  };
  one.drawn = plot(one.card, one.parts.plot, { width, height, right: margin(page), range, look: state.look, acts, after });
  one.drawn.over.append(one.over);
  listen(one, acts);
}

/**
 * The panel keeps its place and its words, and is drawn again when it comes near.
 * @param {State} state
 * @param {Element} root
 */
function letGo(state, root) {
  const one = state.shown.find(({ parts }) => parts.root === root);
  one?.drawn?.u.destroy();
  if (one) Object.assign(one, { drawn: null, ready: false, near: false });
}

/**
 * @param {Shown} one
 * @param {Acts} acts
 */
function listen(one, acts) {
  const { drawn, card } = one;
  if (!drawn) return;
  /** @param {MouseEvent} event */
  const stepAt = (event) => {
    const { left } = drawn.over.getBoundingClientRect();
    return nearestStep(card, drawn.u.posToVal(event.clientX - left, "x"));
  };
  let waiting = 0;
  drawn.over.onpointermove = (event) => acts.point(stepAt(event));
  drawn.over.onpointerleave = () => acts.point(null);
  drawn.over.onclick = (event) => {
    clearTimeout(waiting);
    const step = stepAt(event);
    if (step === null || event.detail > 1) return;
    waiting = window.setTimeout(() => acts.go(step), page.zoom ? DOUBLE : 0);
  };
}

/**
 * @param {State} state
 * @param {Shown | null} one the panel on which the reader does it
 * @returns {Acts}
 */
function actsOf(state, one) {
  return {
    point: (step) => point(page, step),
    go: (step) => state.trigger("clicked", step),
    zoom: (range) => {
      if (range) zoomer.state = state;
      state.zoomed = one ?? state.zoomed;
      if (askZoom(page, range)) state.trigger("zoomed", { range });
    },
    keep: () => state.trigger("kept", { range: page.zoom }),
    pin: (key) => state.trigger("pinned", key),
    look: (key) => state.trigger("looked", key),
  };
}

/**
 * @param {State} state
 * @param {"choice" | "zoom" | "at"} what
 */
function follow(state, what) {
  for (const one of state.shown) {
    if (what === "choice") {
      describe(one.parts, one.card, page.choice?.step ?? null, marksOf(one.card, page.choice));
      showPin(one.parts, page.choice?.pinned.includes(one.card.key) ?? false);
    }
    if (what === "zoom") one.drawn?.show(page.zoom ?? stepAxis(state.meta.span));
    if (one.near) redraw(one);
    else one.stale = true;
  }
  if (what !== "at") placeBar(state);
}

/**
 * On the panel that was zoomed on, else, where a link zooms, on the first.
 * @param {State} state
 */
function placeBar(state) {
  const { zoom } = page;
  if (!zoom || (zoomer.state ?? state) !== state) return state.bar.remove();
  const one = state.shown.includes(/** @type {Shown} */ (state.zoomed)) ? state.zoomed : state.shown[0];
  showZoom(state.bar, zoom, state.meta.axis);
  one?.parts.plot.append(state.bar);
}

/** @type {{ state: State | null }} */
const zoomer = { state: null };

/**
 * @param {State} state
 * @param {KeyboardEvent} event
 */
function pressed(state, event) {
  if (event.target !== state.root || event.ctrlKey || event.metaKey || event.altKey) return;
  const acts = actsOf(state, null);
  const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
  if (by) step(state, by);
  else if (event.key === "Enter" && page.at !== null) acts.go(page.at);
  else if (event.key === "Escape") [acts.point(null), acts.zoom(null)];
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/**
 * Moves the crosshair, from the chosen step where it is nowhere yet, to the next step that any curve has.
 * @param {State} state
 * @param {1 | -1} by
 */
function step(state, by) {
  const whole = { ...state.shown[0].card, curves: state.shown.flatMap(({ card }) => card.curves) };
  const next = neighbourStep(whole, page.at ?? page.choice?.step ?? 0, by);
  if (next === null || (page.zoom && (next < page.zoom[0] || next > page.zoom[1]))) return;
  point(page, next);
  const inSight = state.shown.filter(({ near }) => near).slice(0, SPOKEN);
  state.live.textContent = spoken(
    inSight.map(({ card }) => card),
    next,
  );
}

/**
 * What lies over a plot.
 * @param {Shown} one
 */
function redraw(one) {
  const { card, parts, over, drawn, ready } = one;
  if (!drawn || !ready) return;
  one.stale = false;
  const frame = drawn.frame();
  const marks = marksOf(card, page.choice);
  drawStill(over, card, frame, marks);
  drawMark(over, card, frame, page.choice?.step ?? null, page.choice?.label ?? "");
  drawCross(over, card, frame, page.at);
  caption(parts, card, page.at, marksBeside(marks, page.at, frame));
  runValues(parts, card, page.at ?? page.choice?.step ?? null);
}

/**
 * @param {HTMLElement} root
 * @returns {Look}
 */
function lookOf(root) {
  const style = getComputedStyle(root);
  /** @param {string} name */
  const named = (name) => style.getPropertyValue(name).trim();
  return { ink: named("--st-text-color"), soft: style.color, page: named("--st-background-color"), font: style.fontFamily };
}
