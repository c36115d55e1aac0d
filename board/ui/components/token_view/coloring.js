// The metric that colours the text, per token or per unit, and the range of its colours, in every part of the view that shows them.

import { drawLegend, markChosen } from "./bar.js";
import { palette, parseColor } from "./color.js";
import { readColorRange, rescale, shownColorRange, sourceOf } from "./color_ranges.js";
import { shownMetric } from "./model.js";
import { rulesOf } from "./skeleton.js";

/** @import { ColorRange } from "./model_types" */
/** @import { SharedEnds } from "./payload_types" */
/** @import { Ends, Rgb } from "./plain_types" */
/** @import { View } from "./view_types" */

/** Streamlit's properties of the background, the text and what stands out. */
const THEME = ["--st-background-color", "--st-text-color", "--st-primary-color"];

/**
 * The metric as it colours the text: per token, or its mean per word, sentence or segment.
 * @param {View} view
 */
export function shown(view) {
  return shownMetric(view.model, view.metric, view.granularity);
}

/**
 * Its two ends as they are shown, when asked for.
 * @param {View} view
 * @returns {() => Ends}
 */
export function shownEnds(view) {
  return () => {
    const { lo, hi } = shown(view) ?? { lo: NaN, hi: NaN };
    return [lo, hi];
  };
}

/**
 * @param {View} view
 * @param {boolean} [byKey]
 */
export function recolour(view, byKey = false) {
  rescale(view, shownEnds(view));
  colour(view, byKey);
}

/**
 * Takes the reader's choice of range. Fixed ends are one metric's own; "hold" keeps each metric's ends from when it is first seen.
 * @param {View} view
 * @param {ColorRange} colorRange
 */
export function setColorRange(view, colorRange) {
  view.colorRange = colorRange;
  view.held = colorRange.ends && view.metric ? { [view.metric.name]: colorRange.ends } : {};
  for (const metric of view.model.metrics) metric.rescale(undefined);
  rescale(view, shownEnds(view));
  view.plots.rescaled();
  colour(view);
}

/**
 * The ends of the step's or the run's range, which the server works out when they are asked for.
 * @param {View} view
 * @param {SharedEnds | undefined} ends
 */
export function hearEnds(view, ends) {
  if (!ends || JSON.stringify(ends) === JSON.stringify(view.sharedEnds)) return;
  view.sharedEnds = ends;
  if (ends.scope !== view.colorRange.kind) return;
  rescale(view, shownEnds(view));
  view.plots.rescaled();
  colour(view);
}

/**
 * @param {View} view
 * @param {boolean} [focus]
 */
export function colour(view, focus = false) {
  const { parts, model } = view;
  const metric = shown(view);
  view.text.paint(metric);
  drawLegend(parts.legend, model, metric, view.granularity);
  view.switches.mark(view.granularity);
  view.rangeControl.show(
    readColorRange(shownColorRange(view)),
    metric === null || metric.finite === 0,
    metric ? sourceOf(view.colorRange, metric, view.sharedEnds) : "",
    model.compared === true,
  );
  markChosen(parts.chooser, metric?.name, focus);
  // The chart draws the tokens' own numbers, whatever one colour stands for.
  view.plots.choose(view.metric);
  view.compare.show(model, view.pins, metric, true);
  view.map.show({ model, metric, matches: view.matches });
}

/**
 * Takes the theme's colours, where they are others than before: new rules have the browser look at every token again.
 * @param {View} view
 */
export function paintTheme(view) {
  const style = getComputedStyle(view.parts.root);
  const theme = THEME.map((name) => style.getPropertyValue(name)).join(" ");
  if (theme === view.theme) return;
  view.theme = theme;
  /**
   * @param {string} name
   * @param {Rgb} other
   */
  const read = (name, other) => parseColor(style.getPropertyValue(name)) ?? other;
  const background = read(THEME[0], [255, 255, 255]);
  const text = read(THEME[1], [49, 51, 63]);
  const colors = palette(background);
  view.parts.palette.textContent = rulesOf(colors, text);
  view.parts.root.dataset.theme = colors.dark ? "dark" : "light";
  view.plots.paint(
    colors,
    text,
    background.map((channel, i) => channel + 0.3 * (text[i] - channel)),
  );
  view.map.show({ colors, ink: text, matchInk: read(THEME[2], text) });
}
