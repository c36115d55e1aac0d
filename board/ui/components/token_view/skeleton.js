// The elements of the token view before there is anything to show, and the style rules of its colours.

import { colorAt, css, inkOn } from "./color.js";
import { element } from "./dom.js";
import { STEPS } from "./scale.js";

/** @import { Palette } from "./model_types" */
/** @import { ScaleKind } from "./payload_types" */
/** @import { Rgb } from "./plain_types" */

/** The view's elements by what they are for; `root` holds them all. */
export function skeleton() {
  const live = element("div", "tv-live", { role: "status", "aria-live": "polite" });
  const chooser = element("div", "tv-chooser", { role: "radiogroup", "aria-label": "metric that colours the text" });
  const switches = element("div", "tv-switches");
  const legend = element("div", "tv-legend");
  const count = element("div", "tv-extent");
  const label = "response tokens; arrow keys move, Enter pins, Shift+Enter pins one more, Escape unpins; t opens a table of them";
  const text = element("div", "tv-text", { tabIndex: 0, role: "group", translate: false, "aria-label": label });
  const status = element("div", "tv-status");
  const zooms = [
    ["0.5", "−", "zoom out"],
    ["0", "all tokens", "show all tokens"],
    ["2", "+", "zoom in"],
  ];
  const zoomText = element("span", "tv-zoom-range tv-dim", { title: "the tokens that chart and heatmap show" });
  const zoom = element("div", "tv-zooms", {}, zoomText, ...zooms.map(zoomButton));
  const head = element("div", "tv-heat-head", {}, status, zoom);
  const chart = element("div", "tv-chart tv-lanes");
  const heat = element("div", "tv-heat tv-lanes");
  const tooltip = element("div", "tv-tip", { hidden: true, role: "tooltip" });
  const palette = element("style");
  const rangeControl = element("div", "tv-range");
  const tools = element("div", "tv-tools", { role: "search" });
  const [choose, scale] = [
    element("div", "tv-choose", {}, switches, chooser),
    element("div", "tv-scale-line", {}, legend, rangeControl),
  ];
  const bar = element(
    "div",
    "tv-bar",
    { role: "toolbar", "aria-label": "metrics, legend and tools" },
    choose,
    tools,
    scale,
    count,
  );
  const map = element("div", "tv-map", { title: "the whole response; drag to move" });
  const compare = element("div", "tv-compare", {
    hidden: true,
    role: "region",
    tabIndex: 0,
    "aria-label": "pinned tokens side by side",
  });
  const table = element("div", "tv-tables", { hidden: true, role: "region", "aria-label": "table of the tokens" });
  const help = element("div", "tv-help", { hidden: true, role: "dialog", "aria-label": "keyboard shortcuts" });
  const beneath = [map, compare, head, chart, heat, table];
  const root = element("div", "tv", {}, palette, bar, help, text, ...beneath, tooltip, live);
  const above = { palette, bar, switches, chooser, legend, rangeControl, count, tools, help, text, tooltip, live };
  return { root, ...above, map, compare, head, status, zoom, zoomText, chart, heat, table };
}

/** @param {string[]} given */
function zoomButton([factor, sign, label]) {
  return element("button", "tv-zoom", { type: "button", "aria-label": label, title: label, "data-zoom": factor }, sign);
}

/**
 * A rule for every step of every scale: its fill, a legible ink on it and the colour of its underline.
 * @param {Palette} colors
 * @param {Rgb} text
 */
export function rulesOf(colors, text) {
  /**
   * @param {string} side
   * @param {ScaleKind} kind
   * @param {number} sign
   * @returns {(step: number) => string}
   */
  const styled = (side, kind, sign) => (step) => {
    const fill = colorAt(colors, kind, (sign * step) / (STEPS - 1));
    const ink = inkOn(fill, text);
    const rule = ink.map((channel, i) => 0.6 * channel + 0.4 * fill[i]);
    return `.tv-${side}${step}{--fill:${step ? css(fill) : "transparent"};--ink:${css(ink)};--rule:${css(rule)}}`;
  };
  const sides = [styled("s", "sequential", 1), styled("p", "diverging", 1), styled("n", "diverging", -1)];
  return sides.flatMap((side) => [...Array(STEPS).keys()].map(side)).join("\n");
}
