// What lies over a plot and moves without it being drawn anew: the healthy range, names at line ends, the chosen step, the crosshair.

import { placeText } from "./axis_text.js";
import { apart, shortName } from "./label_places.js";
import { latestPoint, valueText } from "./readings.js";

/** @import { Card, Curve, CurveMark, Frame, Range } from "./types" */

const SVG = "http://www.w3.org/2000/svg";
const LABEL_HEIGHT = 14;
const LABEL_EDGE = 0.08; // so near an end of the axis (as a share of it) the step's name stands beside its line, not across it
const VALUE_EDGE = 0.6; // beyond this share of the axis a value stands to the left of its dot
const MARK = "m0 -5l4.5 5l-4.5 5l-4.5 -5z"; // a diamond, as in the strip of steps
const MARK_TOP = 6;
const LETTER = 6.4; // pixels of a letter at a line's end, roughly

/** Up to so many lines are named at their ends; more get a row of names. */
export const MOST_LABELS = 4;
/** Letters of a name at a line's end. */
const LABEL_LETTERS = 15;

/**
 * Pixels that the names at the ends of a panel's lines take.
 * @param {Card} card
 */
export function labelRoom(card) {
  const longest = Math.max(0, ...endLabels(card).map((label) => label.length));
  return longest ? 10 + LETTER * longest : 0;
}

/**
 * Names at line ends: none for a lone line that the title names, none where there are too many, or where each is a run's.
 * @param {Card} card
 */
function endLabels({ curves, runs }) {
  return runs || curves.length > MOST_LABELS || curves.length < 2 ? [] : curves.map(({ name }) => shortName(name, LABEL_LETTERS));
}

/** @returns {SVGElement} */
export function overlay() {
  const made = node("svg", { class: "cv-over", "aria-hidden": "true" });
  made.append(node("g", { class: "cv-still" }), node("g", { class: "cv-mark" }), node("g", { class: "cv-cross" }));
  return made;
}

/**
 * What stands still while steps are chosen: the bounds of what is healthy, where they are first left, what was found, and the names at line ends.
 * @param {SVGElement} over
 * @param {Card} card
 * @param {Frame} frame
 * @param {CurveMark[]} marks
 */
export function drawStill(over, card, frame, marks) {
  put(over, "cv-still", [...bounds(card, frame), ...departure(card, frame), ...found(card, marks, frame), ...names(card, frame)]);
}

/**
 * A diamond at the top, and a line down to the axis, where something that was found begins; a hollow dot where a step is unlike others.
 * @param {Card} card
 * @param {CurveMark[]} marks
 * @param {Frame} frame
 */
function found(card, marks, { range, across, down, height }) {
  return marks
    .filter(({ step }) => within(step, range))
    .flatMap(({ step, severity }) => {
      if (severity === "unlike") {
        const there = card.curves.map((curve) => ({ curve, point: latestPoint(curve, step) }));
        return there.flatMap(({ curve: { color }, point }) =>
          point?.step === step
            ? [node("circle", { class: "cv-unlike", cx: across(step), cy: down(point.value), r: 4, stroke: color })]
            : [],
        );
      }
      return [
        vertical(`cv-found cv-found-${severity}`, across(step), height),
        node("path", { class: `cv-found cv-found-${severity}`, d: `M${across(step)} ${MARK_TOP}${MARK}` }),
      ];
    });
}

/**
 * The chosen step: its line and name, and a dot of each curve with its value.
 * @param {SVGElement} over
 * @param {Card} card
 * @param {Frame} frame
 * @param {number | null} step
 * @param {string} label
 */
export function drawMark(over, card, frame, step, label) {
  put(over, "cv-mark", step === null ? [] : [...stepLine(card, frame, step, label), ...dots(card, frame, step)]);
}

/**
 * @param {SVGElement} over
 * @param {Card} card
 * @param {Frame} frame
 * @param {number | null} step
 */
export function drawCross(over, card, frame, step) {
  if (step === null || !within(step, frame.range)) return put(over, "cv-cross", []);
  const points = card.curves.flatMap((curve) => {
    const point = latestPoint(curve, step);
    const said = point && (card.runs ? step <= curve.steps[curve.steps.length - 1] : point.step === step);
    return said ? [dot(curve, frame.across(point.step), frame.down(point.value), 3)] : [];
  });
  put(over, "cv-cross", [vertical("cv-at", frame.across(step), frame.height), ...points]);
}

/**
 * @param {SVGElement} over
 * @param {string} group
 * @param {SVGElement[]} shapes
 */
function put(over, group, shapes) {
  over.querySelector(`.${group}`)?.replaceChildren(...shapes);
}

/**
 * Dotted lines at the bounds, where the axis reaches them.
 * @param {Card} card
 * @param {Frame} frame
 */
function bounds({ healthy, log }, { width, height, down }) {
  return [healthy?.low, healthy?.high].flatMap((bound) => {
    if (bound === null || bound === undefined || (log && bound <= 0)) return [];
    const y = down(bound);
    return y < 0 || y > height ? [] : [node("line", { class: "cv-bound", x1: 0, x2: width, y1: y, y2: y })];
  });
}

/**
 * @param {Card} card
 * @param {Frame} frame
 */
function departure({ departure: left, log }, { range, across, down }) {
  if (!left || !within(left.step, range) || (log && left.value <= 0)) return [];
  return [node("circle", { class: "cv-left", cx: across(left.step), cy: down(left.value), r: 6 })];
}

/**
 * @param {Card} card
 * @param {Frame} frame
 */
function names(card, frame) {
  const labels = endLabels(card);
  const ends = labels
    .map((_, at) => latestPoint(card.curves[at], frame.range[1]))
    .map((end) => (end ? frame.down(end.value) : 0));
  const places = apart(ends, LABEL_HEIGHT, LABEL_HEIGHT / 2, frame.height - 2);
  return labels.map((label, at) => text(label, { class: "cv-name", x: frame.width + 8, y: places[at] + 4 }));
}

/**
 * @param {Card} card
 * @param {Frame} frame
 * @param {number} step
 * @param {string} told
 */
function stepLine({ curves }, { width, height, range, across }, step, told) {
  if (!within(step, range) || !curves.some(({ steps }) => steps.length && within(step, [steps[0], steps[steps.length - 1]])))
    return [];
  const share = across(step) / width;
  const anchor = share < LABEL_EDGE ? "start" : share > 1 - LABEL_EDGE ? "end" : "middle";
  const label = text(told, { class: "cv-step", x: across(step), y: -5, "text-anchor": anchor });
  return [vertical("cv-chosen", across(step), height), label];
}

/**
 * A dot of each curve at the step, or where it last had a value, and that value beside it, one above the other where dots are close;
 * towards the middle of the plot, so that it has room.
 * @param {Card} card
 * @param {Frame} frame
 * @param {number} step
 */
function dots(card, frame, step) {
  const { curves, unit, runs } = card;
  const found = curves.flatMap((curve) => {
    const point = latestPoint(curve, step);
    if (!point || !within(point.step, frame.range) || (runs && step > curve.steps[curve.steps.length - 1])) return [];
    const told = valueText(point.value, unit) + (point.step === step ? "" : ` at ${placeText(card, point.step)}`);
    return [{ curve, told, x: frame.across(point.step), y: frame.down(point.value) }];
  });
  const places = apart(
    found.map(({ y }) => y - 6),
    LABEL_HEIGHT,
    LABEL_HEIGHT - 2,
    frame.height - 2,
  );
  const marks = found.map(({ curve, x, y }) => dot(curve, x, y, 4));
  if (runs) return marks; // their values stand below the plot
  const values = found.map(({ told, x }, at) => {
    const before = x / frame.width > VALUE_EDGE;
    return text(told, { class: "cv-value", x: x + (before ? -7 : 7), y: places[at], "text-anchor": before ? "end" : "start" });
  });
  return [...marks, ...values];
}

/**
 * @param {number} step
 * @param {Range} range
 */
function within(step, [from, to]) {
  return from <= step && step <= to;
}

/**
 * @param {string} name
 * @param {number} x
 * @param {number} height
 */
function vertical(name, x, height) {
  return node("line", { class: name, x1: x, x2: x, y1: 0, y2: height });
}

/**
 * @param {Curve} curve
 * @param {number} cx
 * @param {number} cy
 * @param {number} r
 */
function dot({ color }, cx, cy, r) {
  return node("circle", { cx, cy, r, fill: color });
}

/**
 * @param {string} told
 * @param {Record<string, string | number>} attributes
 */
function text(told, attributes) {
  const made = node("text", attributes);
  made.textContent = told;
  return made;
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
function node(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  return made;
}
