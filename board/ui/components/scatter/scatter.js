// One number of rollouts against another: dots or their density, a tooltip, boxes and lassos, and the same by keys.

import { numberText } from "../curves/number_text.js";
import { whenGone } from "../leaving.js";
import { luminance, parseColor } from "../token_view/color.js";
import { element, perFrame, whenResized } from "../token_view/dom.js";
import { dotsOf, orderBy } from "./dots.js";
import { listenGestures } from "./gestures.js";
import { gridOf } from "./nearby.js";
import { paintAxes, paintDots, paintDrag, paintRing, shadesOfColor, wiped } from "./paint.js";
import { numberAt, pixelsOf, planeOf, ticksOf } from "./plane.js";
import { sharedChoice } from "./shared.js";

/** @import { Mounted, Parent } from "../streamlit" */
/** @import { SizeWatch } from "../token_view/plain_types" */
/** @import { Dots, Drag, Look, Meta, Mode, Place, Plane, Sent } from "./types" */

/**
 * @typedef {object} Parts
 * @property {HTMLElement} root
 * @property {HTMLElement} plot
 * @property {HTMLCanvasElement} base
 * @property {HTMLCanvasElement} over
 * @property {HTMLElement} tip
 * @property {HTMLElement} live
 * @property {HTMLElement} legend
 * @property {HTMLElement} modes
 */

/**
 * @typedef {object} State
 * @property {SizeWatch} size
 * @property {Parts} parts
 * @property {Sent} sent
 * @property {Dots} dots
 * @property {string} stamp
 * @property {Look} look
 * @property {Plane} plane
 * @property {ReturnType<typeof gridOf>} nearest
 * @property {{ x: Uint32Array | null; y: Uint32Array | null }} orders made when a key asks for one
 * @property {number | null} hovered
 * @property {Drag | null} drag
 * @property {Mode} mode
 * @property {Mounted<Sent>["setTriggerValue"]} trigger
 * @property {() => void} stop
 */

const REACH = 12; // pixels from a dot
const MOST_TOLD = 3; // labels under the pointer

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();
const shared = sharedChoice();

/** @param {Mounted<Sent>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const state = states.get(parentElement) ?? build(parentElement, data);
  states.set(parentElement, state);
  state.trigger = setTriggerValue;
  const look = lookOf(state.parts.root);
  if (state.stamp !== data.meta.stamp || look.page !== state.look.page || look.text !== state.look.text) fill(state, data, look);
  return whenGone(parentElement, () => {
    states.delete(parentElement);
    state.stop();
  });
}

/**
 * @param {Parent} parentElement
 * @param {Sent} sent
 * @returns {State}
 */
function build(parentElement, sent) {
  const parts = partsOf();
  parentElement.append(parts.root);
  const nothing = () => {};
  const again = perFrame(() => draw(state));
  const size = whenResized(parts.plot, ({ clientWidth, clientHeight }) => `${clientWidth} ${clientHeight}`, again);
  /** @type {State} */
  const state = {
    ...{ parts, size, sent, dots: dotsOf(sent), stamp: "", look: lookOf(parts.root), plane: planeOf(0, 0, []) },
    ...{ nearest: () => null, orders: { x: null, y: null }, hovered: null, drag: null, mode: "box" },
    ...{ trigger: nothing, stop: nothing },
  };
  for (const mode of /** @type {Mode[]} */ (["box", "lasso"])) parts.modes.append(modeButton(state, mode));
  const letGo = listenGestures(parts.over, {
    plane: () => state.plane,
    mode: () => (state.sent.meta.areas ? state.mode : null),
    hover: (x, y) => point(state, state.nearest(x, y, REACH)),
    leave: () => point(state, null),
    click: (x, y) => open(state, state.nearest(x, y, REACH)),
    drag: (drag) => {
      state.drag = drag;
      redraw();
    },
    done: ({ mode, path }) => state.trigger("selected", { [mode]: mode === "box" ? path.flat() : path }),
  });
  const redraw = perFrame(() => drawOver(state));
  parts.plot.onkeydown = (event) => pressed(state, event, letGo);
  parts.plot.onblur = () => point(state, null);
  const follow = () => drawOver(state);
  shared.listeners.add(follow);
  state.stop = () => {
    size.stop();
    shared.listeners.delete(follow);
    parts.root.remove();
  };
  return state;
}

/** @returns {Parts} */
function partsOf() {
  const base = element("canvas", "sc-base", { "aria-hidden": "true" });
  const over = element("canvas", "sc-over", { "aria-hidden": "true" });
  const tip = element("div", "sc-tip", { hidden: true, "aria-hidden": "true" });
  const plot = element("div", "sc-plot", { tabIndex: 0, role: "group" }, base, over, tip);
  const [live, legend, modes] = [
    element("p", "sc-live", { "aria-live": "polite" }),
    element("span", "sc-legend"),
    element("span", "sc-modes", { role: "group", "aria-label": "What a drag draws" }),
  ];
  const bar = element("div", "sc-bar", {}, modes, element("span", "sc-hint"), legend);
  return { root: element("div", "sc", {}, bar, plot, live), plot, base, over, tip, live, legend, modes };
}

/**
 * @param {State} state
 * @param {Mode} mode
 */
function modeButton(state, mode) {
  const button = element(
    "button",
    "sc-mode",
    { type: "button", "aria-pressed": String(state.mode === mode) },
    mode === "box" ? "Box" : "Lasso",
  );
  button.onclick = () => {
    state.mode = mode;
    for (const one of state.parts.modes.children) one.setAttribute("aria-pressed", String(one === button));
  };
  return button;
}

/**
 * @param {State} state
 * @param {Sent} sent
 * @param {Look} look
 */
function fill(state, sent, look) {
  if (state.stamp !== sent.meta.stamp)
    Object.assign(state, { sent, dots: dotsOf(sent), orders: { x: null, y: null }, hovered: null });
  Object.assign(state, { stamp: sent.meta.stamp, look });
  const { meta } = sent;
  state.parts.plot.setAttribute("aria-label", `${meta.said} Arrow keys move from one to the next, Enter opens it.`);
  const hint = state.parts.root.querySelector(".sc-hint");
  const which = meta.kind === "density" ? `the ${meta.dot} nearest to it` : `a ${meta.dot}`;
  if (hint) hint.textContent = meta.areas ? `Drag to filter, click to open ${which}` : `Click to open ${which}`;
  state.parts.modes.hidden = !meta.areas;
  if (sent.height) state.parts.plot.style.height = `${sent.height}px`;
  const ramp = element("span", "sc-ramp");
  if (meta.color?.label) ramp.style.background = `linear-gradient(90deg, ${shadesOfColor(meta.color, look).join(", ")})`;
  state.parts.legend.replaceChildren(
    ...(meta.color?.label
      ? [element("span", "", {}, meta.color.label), numberText(meta.color.low), ramp, numberText(meta.color.high)]
      : []),
  );
  draw(state);
}

/** @param {State} state */
function draw(state) {
  const { parts, sent, dots, look } = state;
  const [width, height] = [parts.plot.clientWidth, parts.plot.clientHeight];
  if (!width || !height) return;
  state.size.drawn();
  const labels = ticksOf(sent.meta.y, height / 40).map(({ text }) => text);
  state.plane = planeOf(width, height, labels);
  state.nearest = gridOf(dots, state.plane);
  const context = wiped(parts.base, width, height);
  paintAxes(context, state.plane, sent.meta, look);
  paintDots(context, state.plane, dots, sent.meta, look);
  drawOver(state);
}

/** @param {State} state */
function drawOver(state) {
  const { parts, dots, plane, look, sent } = state;
  const context = wiped(parts.over, parts.plot.clientWidth, parts.plot.clientHeight);
  if (shared.chosen) paintRing(context, pixelsOf(plane, shared.chosen), sent.meta.inks.chosen, look.page);
  if (state.hovered !== null) paintRing(context, pixelsOf(plane, placeOf(dots, state.hovered)), look.text, look.page);
  if (state.drag) paintDrag(context, plane, state.drag, look);
}

/**
 * @param {Dots} dots
 * @param {number} at
 * @returns {Place}
 */
function placeOf(dots, at) {
  return [dots.x[at], dots.y[at]];
}

/**
 * @param {State} state
 * @param {number | null} at
 */
function point(state, at) {
  if (state.hovered === at) return;
  state.hovered = at;
  const { tip } = state.parts;
  tip.hidden = at === null;
  if (at !== null) {
    tip.textContent = told(state.sent.meta, state.dots, at).join("\n");
    const [x, y] = pixelsOf(state.plane, placeOf(state.dots, at));
    const onLeft = x > state.plane.left + state.plane.width / 2;
    Object.assign(tip.style, {
      left: onLeft ? "" : `${x + 12}px`,
      right: onLeft ? `${state.parts.plot.clientWidth - x + 12}px` : "",
      top: `${Math.max(0, y - 20)}px`,
    });
  }
  drawOver(state);
}

/**
 * What is said of a dot, a line each.
 * @param {Meta} meta
 * @param {Dots} dots
 * @param {number} at
 */
function told({ kind, x, y, color, dot, labels }, dots, at) {
  const count = dots.counts?.[at] ?? 1;
  const about = kind === "density" ? "about " : "";
  const lines = [x, y].map((axis) => `${axis.label} ${about}${numberText(numberAt(axis, (axis === x ? dots.x : dots.y)[at]))}`);
  lines.reverse();
  if (color?.label)
    lines.push(`${color.label} ${count > 1 ? "on average " : ""}${numberText(Number(dots.color[at].toPrecision(6)))}`);
  if (kind === "density") lines.unshift(count === 1 ? `1 ${dot}` : `${numberText(count)} ${dot}s`);
  else if (count > 1) lines.unshift(`${numberText(count)} ${dot}s here: each click opens the next`);
  const those = kind === "density" ? [] : (dots.stacks?.[at] ?? [at]);
  return [...lines, ...those.slice(0, MOST_TOLD).flatMap((one) => labels[one] ?? [])];
}

/**
 * @param {State} state
 * @param {number | null} at
 */
function open(state, at) {
  if (at === null) return;
  const [x, y] = placeOf(state.dots, at);
  state.trigger("clicked", { x, y });
}

/**
 * Left and right go along x, up and down along y, Enter opens, Escape lets go.
 * @param {State} state
 * @param {KeyboardEvent} event
 * @param {() => void} letGo
 */
function pressed(state, event, letGo) {
  const { dots, orders } = state;
  const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
  if (event.key === "Escape") letGo();
  if (event.key === "Enter") open(state, state.hovered);
  if (by === undefined || !dots.size) return;
  event.preventDefault();
  event.stopPropagation();
  orders.x ??= orderBy(dots.x, dots.y);
  orders.y ??= orderBy(dots.y, dots.x);
  const order = event.key === "ArrowLeft" || event.key === "ArrowRight" ? orders.x : orders.y;
  const now = state.hovered === null ? -1 : order.indexOf(state.hovered);
  const next = now < 0 ? 0 : Math.min(dots.size - 1, Math.max(0, now + by));
  point(state, order[next]);
  state.parts.live.textContent = told(state.sent.meta, dots, order[next]).join(", ");
}

/**
 * @param {HTMLElement} root
 * @returns {Look}
 */
function lookOf(root) {
  const style = getComputedStyle(root);
  const named = (/** @type {string} */ name) => style.getPropertyValue(name).trim() || style.color;
  const [page, text] = [named("--st-background-color"), named("--st-text-color")];
  return { text, soft: style.color, page, font: style.fontFamily, dark: luminance(parseColor(page) ?? [255, 255, 255]) < 0.2 };
}
