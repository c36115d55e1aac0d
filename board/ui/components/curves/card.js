// One panel as elements: its name and words around an empty place for the plot. Text enters as text alone.

import { element } from "../token_view/dom.js";
import { placeText } from "./axis_text.js";
import { MOST_LABELS } from "./overlay.js";
import { described, readings, runReadings } from "./readings.js";
import { savingParts } from "./saving.js";

/** @import { Acts, Card, CurveMark } from "./types" */

/**
 * @typedef {object} Parts
 * @property {HTMLElement} root
 * @property {HTMLElement} caption
 * @property {HTMLElement} plot
 * @property {HTMLButtonElement} pin
 * @property {HTMLElement[]} runs what each run says, where the curves are of runs
 */

/**
 * @param {Card} card
 * @param {{ height: number; pins: boolean; acts: Acts }} given `height` of the plot with its edges
 * @returns {Parts}
 */
export function cardParts(card, { height, pins, acts }) {
  const { texts } = card;
  const caption = element("p", "cv-caption");
  const plot = element("div", "cv-plot", { role: "img" });
  plot.style.height = `${height}px`;
  const pin = element("button", "cv-pin", { type: "button", hidden: !pins, onclick: () => acts.pin(card.key) });
  const title = element("h3", "cv-title", {}, card.title);
  const saving = savingParts(card, plot);
  const head = element(
    "header",
    "cv-head",
    {},
    title,
    ...helpParts(texts.help),
    element("span", "cv-acts", {}, saving.menu, pin),
  );
  const root = element("section", "cv-card", {}, head);
  root.dataset.key = card.key;
  root.toggleAttribute("data-runs", card.runs);
  if (texts.gloss) root.append(element("p", "cv-gloss", {}, texts.gloss));
  const runs = card.runs ? card.curves.map(() => element("span", "cv-run-value")) : [];
  root.append(caption, plot, ...(card.runs ? [runRows(card, runs)] : legend(card)), saving.table);
  const below = [texts.note, ...texts.said].filter(Boolean).map((said) => element("p", "cv-said", {}, said));
  const look = element("button", "cv-look", { type: "button", onclick: () => acts.look(card.key) }, texts.look);
  if (below.length || texts.look) root.append(element("div", "cv-below", {}, ...below, ...(texts.look ? [look] : [])));
  return { root, caption, plot, pin, runs };
}

/**
 * What the panel says now: what is drawn, or what the curves say under the crosshair.
 * @param {Parts} parts
 * @param {Card} card
 * @param {number | null} at
 * @param {CurveMark[]} marks those beside the crosshair
 */
export function caption(parts, card, at, marks) {
  if (at === null) {
    parts.caption.textContent = [card.unit, card.drawn].filter(Boolean).join(" · ");
    return;
  }
  const said = (card.runs ? [] : readings(card, at)).map(({ name, color, value, more }) => {
    const dot = element("i", "cv-dot");
    dot.style.background = color;
    const reading = element("span", "cv-reading", {}, dot, `${name} `, element("b", "", {}, value));
    if (more) reading.append(element("span", "cv-more", {}, ` (${more})`));
    return reading;
  });
  const found = marks.map(({ text, severity }) =>
    element("span", `cv-reading cv-found-${severity}`, {}, severity === "unlike" ? "○ " : "◆ ", element("b", "", {}, text)),
  );
  parts.caption.replaceChildren(...found, element("span", "cv-reading", {}, placeText(card, at)), ...said);
}

/**
 * What each run says at a place: under the crosshair, else at the chosen step.
 * @param {Parts} parts
 * @param {Card} card
 * @param {number | null} at
 */
export function runValues({ runs }, card, at) {
  if (!runs.length) return;
  const said = at === null ? [] : runReadings(card, at);
  runs.forEach((place, which) => {
    const { value, more } = said[which] ?? { value: "", more: "" };
    place.replaceChildren(element("b", "", {}, value), ...(more ? [element("span", "cv-more", {}, ` ${more}`)] : []));
  });
}

/**
 * @param {Parts} parts
 * @param {Card} card
 * @param {number | null} step
 * @param {CurveMark[]} marks
 */
export function describe(parts, card, step, marks) {
  parts.plot.setAttribute("aria-label", described(card, step, marks));
}

/**
 * @param {Parts} parts
 * @param {boolean} pinned
 */
export function showPin(parts, pinned) {
  parts.pin.textContent = pinned ? "Unpin" : "Pin";
}

/** @param {[string, string][]} help */
function helpParts(help) {
  if (!help.length) return [];
  const lines = help.map(([what, text]) => element("p", "", {}, ...(what ? [element("b", "", {}, what), " "] : []), text));
  const mark = element("button", "cv-help", { type: "button", "aria-label": "What it is" }, "?");
  return [element("span", "cv-help-box", {}, mark, element("span", "cv-help-card", { role: "tooltip" }, ...lines))];
}

/**
 * A row for each run: its colour, its name, and a place for what it says.
 * @param {Card} card
 * @param {HTMLElement[]} values
 */
function runRows({ curves }, values) {
  const rows = [...curves].reverse().map(({ name, color, dash }, at) => {
    const named = element("span", "cv-run-name", { title: name }, name);
    return element("div", "cv-run", {}, strokeMark(color, dash), named, values[at]);
  });
  return element("div", "cv-runs", {}, ...rows);
}

/**
 * @param {string} color
 * @param {number[]} dash
 */
function strokeMark(color, dash) {
  const made = element("i", dash.length ? "cv-stroke cv-dashed" : "cv-stroke");
  made.style.borderColor = color;
  return made;
}

/** @param {Card} card */
function legend({ curves }) {
  if (curves.length <= MOST_LABELS) return [];
  const names = [...curves]
    .reverse()
    .map(({ name, color, dash }) => element("span", "cv-legend-name", {}, strokeMark(color, dash), name));
  return [element("div", "cv-legend", {}, ...names)];
}
