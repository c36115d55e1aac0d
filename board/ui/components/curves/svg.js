// A panel as a picture of its own, for a paper or a message: SVG on white that needs nothing of the page. Pure.

import { apart, shortName } from "./label_places.js";
import { escaped, markup } from "./markup.js";
import { stepText } from "./number_text.js";
import { lonePlaces, stretches } from "./plot_data.js";
import { latestPoint } from "./readings.js";
import { keptPlaces } from "./thinning.js";
import { evenTicks, logTicks, stepTicks, tickText } from "./ticks.js";
import { stepAxis, valueAxis } from "./value_range.js";

/** @import { Card, Curve, Range } from "./types" */

const INK = "#1c2524";
const SOFT = "#4f5b58";
const FAINT = "#d5dad8";
const DOTTED = "#80888c";
const DEPARTED = "#d9730d";
const FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', sans-serif";
const ROOMS = { left: 64, top: 56, bottom: 44, right: 16 };
const TICKS = { across: 80, down: 44 }; // pixels between two at least
const LETTERS = { title: 9, small: 6.6 }; // pixels of a letter, roughly
const WIDE = /[\u1100-\ud7ff\uf900-\ufaff\ufe30-\uff60]|[\u{1f000}-\u{3ffff}]/gu; // letters that are nearly twice as wide
const NAME_HEIGHT = 16;
const NAME_LETTERS = 24;
const STROKE = 14; // pixels of a line before its name
const FINE = 2; // points are chosen as for a screen with so many pixels in each unit of the picture

/**
 * @typedef {object} Picture
 * @property {Card} card
 * @property {Range} range steps
 * @property {number} width of the plot
 * @property {number} height of the plot
 * @property {(step: number) => number} across
 * @property {(value: number) => number} down not finite where the axis has no place for the value
 * @property {Range} values
 */

/**
 * The panel between two steps as an SVG document: its name, what is drawn, axes, bands, lines named at their ends, what is healthy and where
 * that is first left. The whole name of the panel and of each line is in the titles of their elements.
 * @param {Card} card
 * @param {Range} steps the first and the last step
 * @param {{ width?: number; height?: number }} [size] of the picture, in pixels
 * @returns {string}
 */
export function svgOf(card, steps, { width = 760, height = 420 } = {}) {
  const made = picture(card, steps, width, height);
  const plot = markup(
    "g",
    { transform: `translate(${ROOMS.left} ${ROOMS.top})` },
    ...valueAxisMarks(made),
    ...stepAxisMarks(made),
    markup(
      "svg",
      { width: made.width, height: made.height },
      ...healthyBounds(made),
      ...bands(made),
      ...lines(made),
      ...left(made),
    ),
    ...lineNames(made),
  );
  const unnamed = card.curves.length > 1 ? card.curves.length - namedCurves(card, made.height).length : 0;
  const caption = [card.unit, card.drawn, unnamed ? `${unnamed} lines are not named` : ""].filter(Boolean).join(" · ");
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    markup(
      "svg",
      {
        xmlns: "http://www.w3.org/2000/svg",
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        "font-family": FONT,
        "font-size": 12,
      },
      markup("title", {}, escaped(card.title)),
      markup("rect", { width, height, fill: "#ffffff" }),
      words(shortened(card.title, (width - 32) / LETTERS.title), {
        x: 16,
        y: 24,
        fill: INK,
        "font-size": 15,
        "font-weight": 600,
      }),
      words(shortened(caption, (width - 32) / LETTERS.small), { x: 16, y: 42, fill: SOFT }),
      plot,
    ),
    "\n",
  ].join("");
}

/**
 * @param {Card} card
 * @param {Range} steps
 * @param {number} width
 * @param {number} height
 * @returns {Picture}
 */
function picture(card, steps, width, height) {
  const plotHeight = height - ROOMS.top - ROOMS.bottom;
  const longest = Math.max(0, ...namedCurves(card, plotHeight).map(({ name }) => breadth(shortName(name, NAME_LETTERS))));
  const plotWidth = width - ROOMS.left - (longest ? STROKE + 24 + LETTERS.small * longest : ROOMS.right);
  const range = stepAxis(steps);
  const values = valueAxis(card, steps);
  const placed = card.log ? Math.log10 : (/** @type {number} */ value) => value;
  const [low, high] = values.map(placed);
  return {
    card,
    range,
    values,
    width: round(plotWidth),
    height: round(plotHeight),
    across: (step) => round(((step - range[0]) / (range[1] - range[0])) * plotWidth),
    down: (value) => round((1 - (placed(value) - low) / (high - low)) * plotHeight),
  };
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 100) / 100;
}

/**
 * The curves that are named at their ends: none where the panel's own name says it all, and no more than have room there.
 * @param {Card} card
 * @param {number} height
 */
function namedCurves({ curves }, height) {
  return curves.length < 2 ? [] : curves.slice(-Math.floor(height / NAME_HEIGHT));
}

/**
 * @param {string} text
 * @param {number} room in letters
 */
function shortened(text, room) {
  const letters = [...text].length;
  return breadth(text) <= room ? text : shortName(text, Math.max(3, Math.floor((room * letters) / breadth(text))));
}

/**
 * In letters of usual width.
 * @param {string} text
 */
function breadth(text) {
  return [...text].length + 0.8 * (text.match(WIDE) ?? []).length;
}

/**
 * @param {string} text
 * @param {Record<string, string | number>} attributes
 */
function words(text, attributes) {
  return markup("text", attributes, escaped(text));
}

/** @param {Picture} made */
function valueAxisMarks({ card, values: [low, high], width, height, down }) {
  const most = Math.max(2, Math.floor(height / TICKS.down));
  const ticks = (card.log ? logTicks(low, high, most) : evenTicks(low, high, most)).filter((tick) => low <= tick && tick <= high);
  return ticks.flatMap((tick) => [
    markup("path", { d: `M0 ${down(tick)}H${width}`, stroke: FAINT }),
    words(tickText(tick), { x: -8, y: down(tick) + 4, "text-anchor": "end", fill: SOFT }),
  ]);
}

/** @param {Picture} made */
function stepAxisMarks({ card, range: [low, high], width, height, across }) {
  const ticks = stepTicks(low, high, Math.max(2, Math.floor(width / TICKS.across)));
  return [
    markup("path", { d: `M0 ${height}H${width}`, stroke: DOTTED }),
    ...ticks.map((tick) => words(stepText(tick), { x: across(tick), y: height + 18, "text-anchor": "middle", fill: SOFT })),
    words(card.axis, { x: width / 2, y: height + 36, "text-anchor": "middle", fill: SOFT }),
  ];
}

/** @param {Picture} made */
function healthyBounds({ card, width, height, down }) {
  return [card.healthy?.low, card.healthy?.high].flatMap((bound) => {
    const y = bound === null || bound === undefined ? Number.NaN : down(bound);
    if (!(y >= 0 && y <= height)) return [];
    return [
      markup("path", {
        d: `M0 ${y}H${width}`,
        stroke: DOTTED,
        "stroke-width": 1.5,
        "stroke-dasharray": "1 3",
        "stroke-linecap": "round",
      }),
    ];
  });
}

/** @param {Picture} made */
function left({ card, range, across, down }) {
  const { departure } = card;
  if (!departure || departure.step < range[0] || departure.step > range[1] || !Number.isFinite(down(departure.value))) return [];
  return [
    markup("circle", {
      cx: across(departure.step),
      cy: down(departure.value),
      r: 6,
      fill: "none",
      stroke: DEPARTED,
      "stroke-width": 2,
    }),
  ];
}

/** @param {Picture} made */
function bands(made) {
  const opacity = made.card.curves.length > 2 ? 0.12 : 0.2;
  return made.card.curves.flatMap((curve) =>
    stretches(curve, placesOf(made, curve)).map((stretch) =>
      markup("path", { d: bandPath(made, curve, stretch), fill: curve.color, "fill-opacity": opacity }),
    ),
  );
}

/**
 * @param {Picture} made
 * @param {Curve} curve
 */
function placesOf({ card, range, width }, curve) {
  return keptPlaces(curve, range, width * FINE, card.log);
}

/**
 * @param {Picture} made
 * @param {Curve} curve
 * @param {number[]} stretch
 */
function bandPath({ across, down, height }, { steps, low, high }, stretch) {
  /** @param {number | undefined} value */
  const edge = (value) => (Number.isFinite(down(value ?? Number.NaN)) ? down(value ?? Number.NaN) : height);
  const half = stretch.length === 1 ? 3 : 0; // a step that stands alone has a band to be seen all the same
  /** @param {number} at @param {number} side */
  const above = (at, side) => `${round(across(steps[at]) + side)} ${edge(high?.[at])}`;
  /** @param {number} at @param {number} side */
  const below = (at, side) => `${round(across(steps[at]) + side)} ${edge(low?.[at])}`;
  const sides = half ? [stretch[0], stretch[0]] : stretch;
  const there = sides.map((at, i) => above(at, half && (i ? half : -half)));
  const back = sides.map((at, i) => below(at, half && (i ? half : -half))).reverse();
  return `M${[...there, ...back].join("L")}Z`;
}

/** @param {Picture} made */
function lines(made) {
  const before = made.card.curves.flatMap((curve) =>
    curve.raw ? [line(made, { ...curve, dash: [], width: 1 }, curve.raw, 0.4)] : [],
  );
  return [...before, ...made.card.curves.map((curve) => line(made, curve, curve.values, 1))];
}

/**
 * A line with a gap where a point is missing, and a dot for each point that stands alone.
 * @param {Picture} made
 * @param {Curve} curve
 * @param {Float64Array} values
 * @param {number} opacity
 */
function line(made, curve, values, opacity) {
  const places = placesOf(made, curve);
  const column = places.map((at) => (Number.isFinite(made.down(values[at])) ? made.down(values[at]) : null));
  const across = places.map((at) => made.across(curve.steps[at]));
  const path = column
    .map((y, i) => (y === null ? "" : `${i > 0 && column[i - 1] !== null ? "L" : "M"}${across[i]} ${y}`))
    .join("");
  const dots = lonePlaces(column).map((i) => markup("circle", { cx: across[i], cy: column[i] ?? 0, r: 3, fill: curve.color }));
  return markup(
    "g",
    { opacity },
    markup("title", {}, escaped(curve.name)),
    markup("path", { d: path, ...strokeOf(curve) }),
    ...dots,
  );
}

/**
 * Names at line ends, each after a stroke as its line has.
 * @param {Picture} made
 */
function lineNames({ card, range, width, height, down }) {
  const curves = namedCurves(card, height);
  const ends = curves.map((curve) => down(latestPoint(curve, range[1])?.value ?? Number.NaN));
  const known = ends.map((end) => (Number.isFinite(end) ? end : height));
  const places = apart(known, NAME_HEIGHT, NAME_HEIGHT / 2, height - 2);
  return curves.flatMap((curve, at) => [
    markup("path", { d: `M${width + 8} ${round(places[at])}h${STROKE}`, ...strokeOf(curve) }),
    words(shortName(curve.name, NAME_LETTERS), { x: width + STROKE + 14, y: round(places[at] + 4), fill: INK }),
  ]);
}

/**
 * @param {Curve} curve
 * @returns {Record<string, string | number>}
 */
function strokeOf({ color, width, dash }) {
  const dashed = dash.length ? { "stroke-dasharray": dash.join(" ") } : null;
  return { fill: "none", stroke: color, "stroke-width": width || 2, "stroke-linejoin": "round", ...dashed };
}
