// Groups as strips: a button each, with a dot per member on an axis of rewards that all share. Text reaches the page as text nodes.

/** @import { Mounted, Parent } from "../streamlit" */

/** @typedef {{ name: string; text: string; grey: boolean; mean: number | null }} Row */

/**
 * @typedef {object} Meta
 * @property {Row[]} rows
 * @property {string} low
 * @property {string} high
 * @property {number | null} threshold
 * @property {number | null} chosen
 * @property {string} color
 * @property {number} height
 */

/** @typedef {{ getChildAt(i: number): { toArray(): Float32Array | Int32Array } }} Table */

/** @typedef {{ x: number; size: number; hollow?: boolean }} Dot */

/** @typedef {{ meta: Meta; dots: Table; counts: Table }} Strips */

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 30; // pixels of a strip
const EDGE = 3; // percent of its width that stay free on either side, for dots at the ends
const BINS = 40; // dots nearer than this share of the width stand above each other
const STACK = 5; // dots above each other, and no more
const INSET = 3; // pixels that stay free above and below
const WIDEST_GAP = 6; // pixels between columns of dots
const MOST_WIDTH = 120; // pixels that all dots of one reward take together
const LEAST = 1.8;
const LARGEST = 4; // radius of a dot in pixels

/** @param {Mounted<Strips>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  /** @type {(HTMLElement & { shown?: string }) | null} */
  let pane = parentElement.querySelector(".gs");
  if (!pane) {
    pane = block("div", "gs");
    parentElement.append(pane);
  }
  const { meta } = data;
  pane.style.maxHeight = `${meta.height}px`;
  const [places, sizes, hollow] = [0, 1, 2].map((at) => data.dots.getChildAt(at).toArray());
  const shown = JSON.stringify([meta.rows, meta.low, meta.high, meta.threshold, [...places], [...hollow]]);
  if (pane.shown !== shown) {
    pane.shown = shown;
    pane.replaceChildren(axis(meta), ...rows(meta, places, sizes, hollow, data.counts.getChildAt(0).toArray()));
    pane.scrollTop = 0;
  }
  const buttons = /** @type {HTMLElement[]} */ ([...pane.querySelectorAll(".gs-row")]);
  buttons.forEach((button, at) => {
    button.setAttribute("aria-current", String(at === meta.chosen));
    button.tabIndex = at === (meta.chosen ?? 0) ? 0 : -1;
    button.onclick = () => setTriggerValue("clicked", at);
  });
  pane.onkeydown = (event) => walk(buttons, event);
}

/**
 * The arrow keys go from row to row.
 * @param {HTMLElement[]} buttons
 * @param {KeyboardEvent} event
 */
function walk(buttons, event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target));
  const next = by === undefined || at < 0 ? undefined : buttons[at + by];
  if (!next) return;
  event.preventDefault();
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  next.focus();
}

/** @param {Meta} meta */
function axis({ low, high }) {
  const ends = block("span", "gs-ends");
  ends.append(word("span", "", low), word("span", "", low === high ? "" : high));
  const line = block("div", "gs-axis");
  line.append(word("span", "gs-name", "group"), ends, word("span", "gs-text", ""));
  return line;
}

/**
 * @param {Meta} meta
 * @param {ArrayLike<number>} places
 * @param {ArrayLike<number>} sizes
 * @param {ArrayLike<number>} hollow
 * @param {ArrayLike<number>} counts
 */
function rows(meta, places, sizes, hollow, counts) {
  let from = 0;
  const dotted = meta.rows.map((_, at) => {
    const to = from + counts[at];
    const dots = Array.from({ length: to - from }, (_, i) => from + i).map((i) => ({
      x: places[i],
      size: sizes[i],
      hollow: Boolean(hollow[i]),
    }));
    from = to;
    return binned(dots);
  });
  const tallest = Math.max(1, ...dotted.flatMap((bins) => bins.map((bin) => bin.length)));
  return meta.rows.map((row, at) => {
    const dots = stacked(dotted[at], tallest);
    const button = /** @type {HTMLButtonElement} */ (block("button", "gs-row"));
    button.type = "button";
    button.dataset.grey = String(row.grey);
    button.setAttribute("aria-label", `group ${row.name}: ${row.text}`);
    button.title = row.text;
    button.append(word("span", "gs-name", row.name), strip(meta, row, dots), word("span", "gs-text", row.text));
    return button;
  });
}

/**
 * @param {Meta} meta
 * @param {Row} row
 * @param {(Dot & { y: number; dx: number })[]} dots
 */
function strip({ threshold, color }, { mean }, dots) {
  const plot = shape("svg", "gs-plot", { "aria-hidden": "true" });
  if (threshold !== null) plot.append(upright("gs-line", threshold, 0));
  const drawn = shape("g", "gs-dots", { fill: color, stroke: color });
  for (const { x, y, dx, size, hollow } of dots) {
    const r = (LEAST + (LARGEST - LEAST) * Math.sqrt(size)).toFixed(1);
    /** @type {Record<string, string>} */
    const moved = dx ? { transform: `translate(${dx.toFixed(1)} 0)` } : {};
    drawn.append(shape("circle", hollow ? "gs-hollow" : "", { cx: across(x), cy: y.toFixed(1), r, ...moved }));
  }
  plot.append(drawn);
  if (mean !== null) plot.append(upright("gs-mean", mean, HEIGHT / 2 - 8));
  return plot;
}

/**
 * Dots of about the same reward together, the shortest first.
 * @param {Dot[]} dots
 * @returns {Dot[][]}
 */
export function binned(dots) {
  /** @type {Map<number, Dot[]>} */
  const bins = new Map();
  for (const dot of dots) {
    const bin = Math.round(dot.x * BINS);
    const held = bins.get(bin);
    if (held) held.push(dot);
    else bins.set(bin, [dot]);
  }
  return [...bins.values()].map((bin) => bin.sort((a, b) => a.size - b.size));
}

/**
 * Where each dot stands: those of a bin above each other in as many columns as they need, which grow away from the nearer end of the strip.
 * `dx` is in pixels from the place of its reward; in all strips equally many dots are equally wide, of which the largest bin has `tallest`.
 * @param {Dot[][]} bins
 * @param {number} tallest
 * @returns {(Dot & { y: number; dx: number })[]}
 */
export function stacked(bins, tallest) {
  const apart = Math.min(WIDEST_GAP, MOST_WIDTH / Math.ceil(tallest / STACK));
  return bins.flatMap((bin) => {
    const columns = Math.ceil(bin.length / STACK);
    const high = Math.ceil(bin.length / columns);
    return bin.map((dot, i) => {
      const y = INSET + (((i % high) + 0.5) / high) * (HEIGHT - 2 * INSET);
      return { ...dot, y, dx: apart * (Math.floor(i / high) - dot.x * (columns - 1)) };
    });
  });
}

/**
 * @param {string} name
 * @param {number} at
 * @param {number} inset
 */
function upright(name, at, inset) {
  return shape("line", name, { x1: across(at), x2: across(at), y1: String(inset), y2: String(HEIGHT - inset) });
}

/** @param {number} share */
function across(share) {
  return `${(EDGE + share * (100 - 2 * EDGE)).toFixed(2)}%`;
}

/**
 * @param {string} tag
 * @param {string} name
 * @param {Record<string, string>} attributes
 */
function shape(tag, name, attributes) {
  const made = document.createElementNS(SVG, tag);
  if (name) made.setAttribute("class", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/**
 * @param {string} tag
 * @param {string} name
 */
function block(tag, name) {
  const made = document.createElement(tag);
  made.className = name;
  return made;
}

/**
 * @param {string} tag
 * @param {string} name
 * @param {string} text
 */
function word(tag, name, text) {
  const made = block(tag, name);
  made.textContent = text;
  return made;
}
