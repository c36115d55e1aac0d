// Counts as bars on a logarithmic scale: each in its own column, all of which can be clicked, however low the bar.

import { numberText } from "../curves/number_text.js";
import { evenTicks, tickText } from "../curves/ticks.js";
import { element, replace } from "../token_view/dom.js";

/** @import { Mounted } from "../streamlit" */

/**
 * @typedef {object} Bars
 * @property {number[]} edges
 * @property {number[]} counts
 * @property {number | null} chosen
 * @property {string} label
 * @property {string} unit
 * @property {{ bar: string; chosen: string }} colors
 */

const SVG = "http://www.w3.org/2000/svg";
const GAP = 0.1; // of a bar's column
const FLOOR = 0.03; // of the height: what a single token has

/** @param {Mounted<Bars>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const shown = JSON.stringify(data);
  /** @type {(HTMLElement & { shown?: string }) | null} */
  const before = parentElement.querySelector(".cb");
  if (before?.shown === shown) return;
  const told = element("div", "cb-told");
  const plot = element("div", "cb-plot");
  const root = element("div", "cb", { tabIndex: 0, role: "slider", "aria-label": data.label, "aria-valuemin": 0 });
  root.setAttribute("aria-valuemax", String(data.counts.length - 1));
  const bars = drawn(data, plot);
  root.append(told, plot, axis(data));
  replace(parentElement, before, Object.assign(root, { shown }));
  let at = data.chosen ?? -1;
  /** @param {number} next */
  const look = (next) => {
    at = next;
    for (const [one, bar] of bars.entries()) bar.setAttribute("fill-opacity", one === next || next < 0 ? "1" : "0.55");
    told.textContent = said(data, next < 0 ? data.chosen : next);
    root.setAttribute("aria-valuenow", String(Math.max(0, next)));
    root.setAttribute("aria-valuetext", told.textContent);
  };
  /** @param {PointerEvent | MouseEvent} event */
  const under = (event) => {
    const { left, width } = plot.getBoundingClientRect();
    const found = Math.floor(((event.clientX - left) / width) * data.counts.length);
    return Math.min(Math.max(found, 0), data.counts.length - 1);
  };
  plot.onpointermove = (event) => look(under(event));
  plot.onpointerleave = () => look(-1);
  plot.onclick = (event) => setTriggerValue("clicked", under(event));
  root.onkeydown = (event) => {
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (by) look(Math.min(Math.max((at < 0 ? (data.chosen ?? -by) : at) + by, 0), data.counts.length - 1));
    else if (event.key === "Enter" && at >= 0) setTriggerValue("clicked", at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  look(-1);
}

/**
 * The bars and the lines of powers of ten behind them.
 * @param {Bars} data
 * @param {HTMLElement} plot
 */
function drawn({ counts, chosen, colors }, plot) {
  const most = Math.log10(Math.max(10, ...counts));
  /** @param {number} count */
  const high = (count) => FLOOR + (1 - FLOOR) * (Math.log10(count) / most);
  for (let power = 0; power <= most; power += Math.ceil(most / 5)) {
    const line = element("div", "cb-line", {}, element("span", "", {}, (10 ** power).toLocaleString("en")));
    line.style.top = `${100 * (1 - high(10 ** power))}%`;
    plot.append(line);
  }
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${counts.length} 1`);
  svg.setAttribute("preserveAspectRatio", "none");
  const bars = counts.map((count, at) => {
    const bar = document.createElementNS(SVG, "rect");
    const height = count ? high(count) : 0;
    const numbers = { x: at + GAP / 2, y: 1 - height, width: 1 - GAP, height };
    for (const [name, value] of Object.entries(numbers)) bar.setAttribute(name, String(value));
    bar.setAttribute("fill", at === chosen ? colors.chosen : colors.bar);
    return bar;
  });
  svg.append(...bars);
  plot.append(svg);
  return bars;
}

/** @param {Bars} data */
function axis({ edges }) {
  const [low, high] = [edges[0], edges[edges.length - 1]];
  const line = element("div", "cb-axis");
  for (const tick of evenTicks(low, high, 8)) {
    const label = element("span", "", {}, tickText(tick));
    label.style.left = `${(100 * (tick - low)) / (high - low)}%`;
    line.append(label);
  }
  return line;
}

/**
 * @param {Bars} data
 * @param {number | null} at
 */
function said({ edges, counts, unit }, at) {
  if (at === null) return `${counts.reduce((sum, one) => sum + one, 0).toLocaleString("en")} tokens`;
  const tokens = `${counts[at].toLocaleString("en")} ${counts[at] === 1 ? "token" : "tokens"}`;
  return `${tokens} from ${numberText(edges[at])} to ${numberText(edges[at + 1])} ${unit}`;
}
