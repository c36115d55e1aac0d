// A table of numbers as a picture: a pixel of a canvas per cell, stretched; what a cell says stands above it.

import { numberText } from "../curves/number_text.js";
import { colorAt, palette, parseColor } from "../token_view/color.js";
import { contextOf, element, replace } from "../token_view/dom.js";

/** @import { Mounted } from "../streamlit" */
/** @import { Palette } from "../token_view/model_types" */

/**
 * @typedef {object} Picture
 * @property {string} values
 * @property {string[]} columns
 * @property {string[]} rows
 * @property {"diverging" | "sequential"} scale
 * @property {[number, number]} ends
 * @property {[number | null, number | null]} chosen
 * @property {string} label
 * @property {string} unit
 */

/** @typedef {{ column: number; row: number }} Cell */

const LEGEND = 70; // colours of the legend

/** @param {Mounted<Picture>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement instanceof ShadowRoot ? parentElement.host : parentElement;
  const page = getComputedStyle(host).getPropertyValue("--st-background-color");
  const shown = JSON.stringify([data, page]);
  /** @type {(HTMLElement & { shown?: string }) | null} */
  const before = parentElement.querySelector(".hm");
  if (before?.shown === shown) return;
  const values = decoded(data.values);
  const told = element("div", "hm-told");
  const canvas = element("canvas");
  const mark = element("div", "hm-mark");
  const plot = element("div", "hm-plot", {}, canvas, columnMark(data), mark);
  const body = element("div", "hm-body", {}, ends(data.rows, "hm-rows"), plot, ends(data.columns, "hm-columns"));
  const legend = element("div", "hm-legend");
  const root = element("div", "hm", { tabIndex: 0, role: "group", "aria-label": data.label }, told, body, legend);
  told.setAttribute("aria-live", "polite");
  replace(parentElement, before, Object.assign(root, { shown }));
  const colors = palette(parseColor(page) ?? [255, 255, 255]);
  paint(canvas, data, values, colors);
  legend.append(...keyOf(data, colors));
  const [column, row] = data.chosen;
  const chosen = column === null || row === null ? null : { column, row };
  let at = chosen;
  /** @param {Cell | null} cell */
  const look = (cell) => {
    at = cell;
    lay(mark, data, cell);
    told.textContent = cell ? said(data, values, cell) : `${data.label}: a click lists the rollouts`;
  };
  /** @param {PointerEvent | MouseEvent} event */
  const under = (event) => {
    const { left, top, width, height } = plot.getBoundingClientRect();
    return {
      column: within(((event.clientX - left) / width) * data.columns.length, data.columns.length),
      row: within(((event.clientY - top) / height) * data.rows.length, data.rows.length),
    };
  };
  /** @param {Cell} cell */
  const choose = (cell) => setTriggerValue("clicked", `${cell.column},${cell.row}`);
  plot.onpointermove = (event) => look(under(event));
  plot.onpointerleave = () => look(chosen);
  plot.onclick = (event) => choose(under(event));
  root.onkeydown = (event) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const here = at ?? { column: data.chosen[0] ?? 0, row: 0 };
    if (by) look({ column: within(here.column + by[0], data.columns.length), row: within(here.row + by[1], data.rows.length) });
    else if (event.key === "Enter" && at) choose(at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  look(chosen);
}

/** @param {string} text */
function decoded(text) {
  return new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

/**
 * @param {number} place
 * @param {number} count
 */
function within(place, count) {
  return Math.min(Math.max(Math.floor(place), 0), count - 1);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} data
 * @param {Float32Array} values
 * @param {Palette} colors
 */
function paint(canvas, data, values, colors) {
  const [width, height] = [data.columns.length, data.rows.length];
  Object.assign(canvas, { width, height });
  const image = new ImageData(width, height);
  for (let column = 0; column < width; column += 1)
    for (let row = 0; row < height; row += 1) {
      const value = values[column * height + row];
      if (Number.isNaN(value)) continue;
      image.data.set([...colorAt(colors, data.scale, place(data, value)), 255], 4 * (row * width + column));
    }
  contextOf(canvas).putImageData(image, 0, 0);
}

/**
 * Where between the ends of the scale a value lies: 0 to 1, or -1 to 1 around zero.
 * @param {Picture} data
 * @param {number} value
 */
function place({ scale, ends: [low, high] }, value) {
  if (scale === "diverging") return Math.max(-1, Math.min(1, value / (high || 1)));
  return high > low ? Math.max(0, Math.min(1, (value - low) / (high - low))) : 0.5;
}

/**
 * @param {HTMLElement} mark
 * @param {Picture} data
 * @param {Cell | null} cell
 */
function lay(mark, { columns, rows }, cell) {
  mark.hidden = cell === null;
  if (!cell) return;
  Object.assign(mark.style, {
    left: `${(100 * cell.column) / columns.length}%`,
    top: `${(100 * cell.row) / rows.length}%`,
    width: `${100 / columns.length}%`,
    height: `${100 / rows.length}%`,
  });
}

/** @param {Picture} data */
function columnMark({ columns, chosen: [column] }) {
  const mark = element("div", "hm-column", { hidden: column === null });
  if (column !== null)
    Object.assign(mark.style, { left: `${(100 * column) / columns.length}%`, width: `${100 / columns.length}%` });
  return mark;
}

/**
 * The first, the middle and the last name of an axis.
 * @param {string[]} names
 * @param {string} className
 */
function ends(names, className) {
  const shown = names.length > 2 ? [0, names.length >> 1, names.length - 1] : names.map((_, at) => at);
  return element("div", className, {}, ...shown.map((at) => element("span", "", {}, names[at])));
}

/**
 * @param {Picture} data
 * @param {Palette} colors
 */
function keyOf(data, colors) {
  const [low, high] = data.scale === "diverging" ? [-data.ends[1], data.ends[1]] : data.ends;
  const canvas = element("canvas", "", { width: LEGEND, height: 1 });
  const image = new ImageData(LEGEND, 1);
  for (let at = 0; at < LEGEND; at += 1) {
    const value = low + ((high - low) * at) / (LEGEND - 1);
    image.data.set([...colorAt(colors, data.scale, place(data, value)), 255], 4 * at);
  }
  contextOf(canvas).putImageData(image, 0, 0);
  return [element("span", "", {}, numberText(low)), canvas, element("span", "", {}, `${numberText(high)} ${data.unit}`)];
}

/**
 * @param {Picture} data
 * @param {Float32Array} values
 * @param {Cell} cell
 */
function said({ columns, rows, unit }, values, { column, row }) {
  const value = values[column * rows.length + row];
  const text = Number.isNaN(value) ? "no token" : `${numberText(value)} ${unit}`;
  return `step ${columns[column]}, ${rows[row]}: ${text}`;
}
