// The token view itself: holds what is shown, chosen, pinned and hovered, and joins its parts. The component's entry point.

import { whenGone } from "../leaving.js";
import { drawChooser, drawExtent } from "./bar.js";
import { choose, expect, meet, pin, tell, togglePin } from "./choosing.js";
import { createColorRangeControl } from "./color_range_control.js";
import { colorRangeOf, rescale } from "./color_ranges.js";
import { colour, paintTheme, recolour, setColorRange, shown, shownEnds } from "./coloring.js";
import { createCompare } from "./compare.js";
import { element } from "./dom.js";
import { built, inSight, mark, showMatches } from "./highlights.js";
import { createMinimap } from "./minimap.js";
import { localIndex, modelOf } from "./model.js";
import { pinsAfter } from "./pins.js";
import { createPlots } from "./plots.js";
import { extreme, focusOn, hover, listenText } from "./pointing.js";
import { createSearchBar } from "./search_bar.js";
import { listenShortcuts } from "./shortcuts.js";
import { skeleton } from "./skeleton.js";
import { createSwitches } from "./switches.js";
import { createTable } from "./table.js";
import { createText } from "./text.js";

/** @import { Mounted, Parent } from "../streamlit" */
/** @import { Model } from "./model_types" */
/** @import { Payload } from "./payload_types" */
/** @import { View } from "./view_types" */

/** @type {WeakMap<Parent, View>} */
const views = new WeakMap();

/**
 * Streamlit calls this when the data or the theme changes; the page's elements are kept between calls.
 * @param {Mounted<Payload>} mounted
 */
export default function ({ data, parentElement, setTriggerValue }) {
  const view = views.get(parentElement) ?? createView(parentElement);
  views.set(parentElement, view);
  view.report = (choice) => setTriggerValue("choice", choice);
  view.estimate = (name) => setTriggerValue("estimator", name);
  paintTheme(view);
  if (data.meta.stamp !== view.model?.stamp) load(view, data);
  return whenGone(parentElement, () => {
    close(view);
    views.delete(parentElement);
  });
}

/**
 * The view without a model, which `load` brings.
 * @param {Parent} parent
 */
function createView(parent) {
  const parts = skeleton();
  parent.append(parts.root);
  const chosen = { model: null, metric: null, colorRange: colorRangeOf("q"), held: {}, sharedEnds: null, granularity: "token" };
  const marked = { matches: null, pins: [], pinned: null, hovered: null, focused: null, flagged: [] };
  const heard = { pending: [], meeting: null, listener: null };
  const view = /** @type {View} */ (/** @type {unknown} */ ({ parts, theme: "", ...chosen, ...marked, ...heard }));
  createPictures(view);
  createTools(view);
  createTables(view);
  // The card hangs beside its token, and the page has moved that away.
  view.away = () => {
    parts.tooltip.hidden = true;
  };
  document.addEventListener("scroll", view.away, { capture: true, passive: true });
  listenText(view);
  listenShortcuts(view, { focusOn, choose, togglePin, extreme, unpin: () => pin(view, []) });
  return view;
}

/**
 * The text, and what is drawn of it: chart, heatmap, minimap.
 * @param {View} view
 */
function createPictures(view) {
  const { parts } = view;
  view.plots = createPlots(parts, {
    hover: (i) => hover(view, i, false),
    pin: (i, add) => togglePin(view, i, true, add),
    metric: (name) => choose(view, name),
    text: (i) => view.text.reveal(i, true),
    moved: () => tell(view),
  });
  view.text = createText(parts.text, { built: () => built(view), moved: () => inSight(view) });
  view.map = createMinimap(parts.map, (index) => view.text.reveal(index, true));
}

/**
 * The controls above the text.
 * @param {View} view
 */
function createTools(view) {
  const { parts } = view;
  view.rangeControl = createColorRangeControl(
    parts.rangeControl,
    shownEnds(view),
    (colorRange) => {
      setColorRange(view, colorRange);
      tell(view);
    },
    () => view.metric?.scale === "diverging",
  );
  view.searchBar = createSearchBar(parts.tools, parts.help, {
    found: (matches) => showMatches(view, matches),
    go: (index) => focusOn(view, index, false),
    raw: (raw) => redraw(view, { raw }),
    leave: () => parts.text.focus(),
    here: () => view.focused ?? view.text.inView()?.[0] ?? 0,
  });
  view.switches = createSwitches(parts.switches, parts.tools, {
    granularity(name) {
      view.granularity = name;
      recolour(view);
      tell(view);
    },
    foldAll: () => view.text.foldAll(),
    spaces: (on) => redraw(view, { spaces: on }),
  });
}

/**
 * The comparison of pinned tokens and the table of all, from which the keyboard goes back to the text.
 * @param {View} view
 */
function createTables(view) {
  const { parts } = view;
  const leave = () => parts.text.focus();
  /** @param {number} index */
  const go = (index) => {
    leave();
    focusOn(view, index, true);
  };
  const here = () => view.focused ?? localIndex(view.model, view.pinned) ?? view.text.inView()?.[0] ?? 0;
  const clear = () => pin(view, []);
  /** @param {number} position */
  const close = (position) => pin(view, pinsAfter(view.pins, position, true));
  view.compare = createCompare(parts.compare, { go, leave, clear, close });
  view.table = createTable(parts.table, { go, leave, here });
  parts.tools.querySelector(".tv-keys")?.before(view.table.button);
}

/**
 * Draws a window of tokens from nothing.
 * @param {View} view
 * @param {Payload} data
 */
function load(view, data) {
  const { parts } = view;
  const model = modelOf(data);
  Object.assign(view, { model, hovered: null, focused: null, pins: [], pinned: null, matches: null, pending: [] });
  parts.tooltip.hidden = true;
  parts.text.style.maxHeight = model.height ? `${model.height}px` : "";
  expect(view);
  rescale(view, shownEnds(view));
  model.spaces = view.switches.show(model);
  view.text.show(model, shown(view));
  if (model.n === 0) parts.text.append(element("span", "tv-note", {}, "(empty response)"));
  parts.bar.hidden = parts.map.hidden = model.n === 0;
  view.searchBar.show(model);
  drawExtent(parts.count, model);
  drawChooser(
    parts.chooser,
    model,
    (name) => choose(view, name),
    (name) => view.estimate(name),
  );
  view.plots.show(model);
  view.table.show(model);
  parts.head.hidden = model.n === 0 || model.metrics.length === 0;
  meet(view);
  colour(view);
  mark(view);
}

/**
 * Draws the tokens by name, or by their bytes again, with or without marks on spaces; what is in sight stays in sight.
 * @param {View} view
 * @param {Partial<Pick<Model, "raw" | "spaces">>} how
 */
function redraw(view, how) {
  const [first] = view.text.inView() ?? [0];
  Object.assign(view.model, how);
  if (how.raw !== undefined) {
    view.matches = null;
    view.searchBar.show(view.model);
  }
  view.text.show(view.model, shown(view));
  view.text.reveal(first, true);
  built(view);
  view.map.show({ matches: view.matches });
}

/** @param {View} view */
function close(view) {
  document.removeEventListener("scroll", view.away, { capture: true });
  view.plots.close();
  view.text.close();
  view.map.close();
  if (view.meeting?.listener === view.listener) view.meeting.listener = null;
}
