// The token view itself: holds what is shown, chosen, pinned and hovered, and joins its parts. The component's entry point.

import { drawChooser, drawExtent, drawLegend, markChosen } from "./bar.js";
import { palette, parseColor } from "./color.js";
import { createCompare } from "./compare.js";
import { element } from "./dom.js";
import { createSearchBar } from "./search_bar.js";
import { stepAlong } from "./search.js";
import { listenShortcuts } from "./shortcuts.js";
import { meetingPlace, settle } from "./echo_filter.js";
import { literal } from "./marks.js";
import { createMinimap } from "./minimap.js";
import { localIndex, metricOf, modelOf, shownMetric } from "./model.js";
import { createPlots } from "./plots.js";
import { choiceOf, MOST_PINS, pinsAfter, pinsOf } from "./pins.js";
import { createColorRangeControl } from "./color_range_control.js";
import { colorRangeOf, readColorRange, rescale, shownColorRange, sourceOf } from "./color_ranges.js";
import { rulesOf, skeleton } from "./skeleton.js";
import { createSwitches } from "./switches.js";
import { surroundings } from "./surroundings.js";
import { createTable } from "./table.js";
import { createText } from "./text.js";
import { cut, drawTooltip, placeTooltip, spoken } from "./tooltip.js";

const HINT = "hover or use the arrow keys for a token's numbers; click or Enter pins it, with Shift beside others; drag below to zoom, double click for all";
const FULL = `${MOST_PINS} tokens are pinned; unpin one to pin another`;
const views = new WeakMap();

/** Streamlit calls this when the data or the theme changes; the page's elements are kept between calls. */
export default function ({ data, parentElement, setTriggerValue }) {
  if (!views.has(parentElement)) views.set(parentElement, createView(parentElement));
  const view = views.get(parentElement);
  view.update(data, (choice) => setTriggerValue("choice", choice), (name) => setTriggerValue("estimator", name));
  return () => {
    view.close();
    views.delete(parentElement);
  };
}

function createView(parent) {
  const parts = skeleton();
  parent.append(parts.root);
  const view = { parts, model: null, metric: null, matches: null, colorRange: colorRangeOf("q"), held: {}, granularity: "token", pins: [], pinned: null, hovered: null, focused: null, pending: [], report: () => {} };
  const on = { hover: (i) => hover(view, i, false), pin: (i, add) => togglePin(view, i, true, add), metric: (name) => choose(view, name) };
  view.plots = createPlots(parts, { ...on, text: (i) => view.text.reveal(i, true), moved: () => tell(view) });
  view.text = createText(parts.text, { built: () => built(view), moved: () => inSight(view) });
  view.map = createMinimap(parts.map, (index) => view.text.reveal(index, true));
  view.rangeControl = createColorRangeControl(parts.rangeControl, shownEnds(view), (colorRange) => {
    setColorRange(view, colorRange);
    tell(view);
  }, () => view.metric?.scale === "diverging");
  view.searchBar = createSearchBar(parts.tools, parts.help, {
    found: (matches) => showMatches(view, matches),
    go: (index) => focusOn(view, index, false),
    raw: (raw) => redraw(view, { raw }),
    leave: () => parts.text.focus(),
    here: () => view.focused ?? view.text.inView()?.[0] ?? 0,
  });
  const leave = () => parts.text.focus();
  const go = (index) => (leave(), focusOn(view, index, true));
  const here = () => view.focused ?? localIndex(view.model, view.pinned) ?? view.text.inView()?.[0] ?? 0;
  view.compare = createCompare(parts.compare, { go, leave, clear: () => pin(view, []), close: (position) => pin(view, pinsAfter(view.pins, position, true)) });
  view.table = createTable(parts.table, { go, leave, here });
  parts.tools.lastElementChild.before(view.table.button);
  view.switches = createSwitches(parts.switches, parts.tools, {
    granularity(name) {
      view.granularity = name;
      recolour(view);
      tell(view);
    },
    foldAll: () => view.text.foldAll(),
    spaces: (on) => redraw(view, { spaces: on }),
  });
  // The card hangs beside its token, and the page has moved that away.
  view.away = () => { parts.tooltip.hidden = true; };
  document.addEventListener("scroll", view.away, { capture: true, passive: true });
  listenText(view);
  listenShortcuts(view, { focusOn, choose, togglePin, extreme, unpin: () => pin(view, []) });
  return { update: (data, report, estimate) => update(view, data, report, estimate), close: () => close(view) };
}

function update(view, data, report, estimate) {
  Object.assign(view, { report, estimate });
  if (data.meta.stamp !== view.model?.stamp) load(view, data);
  paintTheme(view);
}

/** Draws a window of tokens from nothing. The chosen metric stays when the next rollout has it too. */
function load(view, data) {
  const { parts } = view;
  const model = modelOf(data);
  Object.assign(view, { model, hovered: null, focused: null, pins: [], pinned: null, matches: null, pending: [] });
  parts.tooltip.hidden = true;
  parts.text.style.maxHeight = model.height ? `${model.height}px` : "";
  view.metric = metricOf(model, view.metric?.name) ?? model.metrics[0] ?? null;
  rescale(view, shownEnds(view));
  model.spaces = view.switches.show(model);
  view.text.show(model, shown(view));
  if (model.n === 0) parts.text.append(element("span", "tv-note", {}, "(empty response)"));
  parts.bar.hidden = parts.map.hidden = model.n === 0;
  view.searchBar.show(model);
  drawExtent(parts.count, model);
  drawChooser(parts.chooser, model, (name) => choose(view, name), (name) => view.estimate(name));
  view.plots.show(model);
  view.table.show(model);
  parts.head.hidden = model.n === 0 || model.metrics.length === 0;
  meet(view);
  colour(view);
  mark(view);
}

/** Meets the server's choice, which may have come before the tokens or comes after them. */
function meet(view) {
  const { key, stamp } = view.model;
  if (view.meeting && view.meeting.listener === view.listener) view.meeting.listener = null;
  view.meeting = meetingPlace(key);
  view.listener = (choice, repeated = false) => {
    if (choice.stamp !== stamp) return;
    hearEnds(view, choice.ends);
    const { pending, apply } = settle(view.pending, choice, repeated);
    view.pending = pending;
    if (apply) obey(view, choice);
  };
  view.meeting.listener = view.listener;
  if (view.meeting.choice) view.listener(view.meeting.choice);
}

function obey(view, choice) {
  const moved = choice.pinned !== view.pinned;
  const metric = metricOf(view.model, choice.metric) ?? view.metric;
  const granularity = choice.granularity ?? view.granularity;
  const recoloured = metric !== view.metric || granularity !== view.granularity;
  Object.assign(view, { metric, granularity, pins: pinsOf(choice), pinned: choice.pinned });
  if (recoloured) rescale(view, shownEnds(view));
  if (choice.scale && choice.scale !== shownColorRange(view)) setColorRange(view, readColorRange(choice.scale));
  else if (recoloured) colour(view);
  mark(view);
  const opened = view.plots.open(choice.window);
  const local = localIndex(view.model, view.pinned);
  if (moved && local !== null) requestAnimationFrame(() => (opened === null ? reveal(view, local) : view.text.reveal(local)));
  else if (opened !== null) requestAnimationFrame(() => view.text.reveal(opened, true));
}

/** Reports the reader's choice; what is on screen never waits for the answer. */
function tell(view) {
  const choice = { metric: view.metric?.name ?? "", ...choiceOf(view.pins), scale: shownColorRange(view), granularity: view.granularity, window: view.plots.tell() };
  view.pending.push(choice);
  view.report({ ...choice, stamp: view.model.stamp });
}

/** `byKey` moves the keyboard to the metric's button as well. */
function choose(view, name, byKey = false) {
  const metric = metricOf(view.model, name);
  if (metric === null || metric === view.metric) return;
  view.metric = metric;
  recolour(view, byKey);
  tell(view);
}

function recolour(view, byKey = false) {
  rescale(view, shownEnds(view));
  colour(view, byKey);
}

/** The metric as it colours the text: per token, or its mean per word, sentence or segment. */
function shown(view) {
  return shownMetric(view.model, view.metric, view.granularity);
}

/** Its two ends as they are shown, when asked for. */
function shownEnds(view) {
  return () => [shown(view).lo, shown(view).hi];
}

/** Takes the reader's choice of range. Fixed ends are one metric's own; "hold" keeps each metric's ends from when it is first seen. */
function setColorRange(view, colorRange) {
  view.colorRange = colorRange;
  view.held = colorRange.ends && view.metric ? { [view.metric.name]: colorRange.ends } : {};
  for (const metric of view.model.metrics) metric.rescale(undefined);
  rescale(view, shownEnds(view));
  view.plots.rescaled();
  colour(view);
}

/** The ends of the step's or the run's range, which the server works out when they are asked for. */
function hearEnds(view, ends) {
  if (!ends || JSON.stringify(ends) === JSON.stringify(view.sharedEnds)) return;
  view.sharedEnds = ends;
  if (ends.scope !== view.colorRange.kind) return;
  rescale(view, shownEnds(view));
  view.plots.rescaled();
  colour(view);
}

/** A pin from the heatmap or the keyboard brings its token into sight; one clicked in the text is there already. `add`: beside the others. */
function togglePin(view, index, bringIntoSight, add = false) {
  const position = view.model.start + index;
  const pins = pinsAfter(view.pins, position, add);
  if (pins === view.pins) {
    view.parts.status.textContent = view.parts.live.textContent = FULL;
    return;
  }
  pin(view, pins);
  if (pins.includes(position) && bringIntoSight) reveal(view, index);
}

function pin(view, pins) {
  if (pins.length === 0 && view.pins.length === 0) return;
  Object.assign(view, { pins, pinned: pins.at(-1) ?? null });
  mark(view);
  tell(view);
}

/** `index` is hovered (null: nothing is); `withTooltip` when the pointer or the keyboard is in the text. */
function hover(view, index, withTooltip) {
  if (view.hovered === index && view.parts.tooltip.hidden === !(withTooltip && index !== null)) return;
  view.hovered = index;
  mark(view);
  const { tooltip } = view.parts;
  tooltip.hidden = index === null || !withTooltip;
  if (tooltip.hidden) return;
  drawTooltip(tooltip, view.model, index, localIndex(view.model, view.pinned), view.metric);
  placeTooltip(tooltip, surroundings(view, index));
}

function colour(view, focus = false) {
  const { parts, model } = view;
  const metric = shown(view);
  view.text.paint(metric);
  drawLegend(parts.legend, model, metric, view.granularity);
  view.switches.mark(view.granularity);
  view.rangeControl.show(readColorRange(shownColorRange(view)), metric === null || metric.finite === 0, metric ? sourceOf(view.colorRange, metric, view.sharedEnds) : "");
  markChosen(parts.chooser, metric?.name, focus);
  // The chart draws the tokens' own numbers, whatever one colour stands for.
  view.plots.choose(view.metric);
  view.compare.show(model, view.pins, metric, true);
  view.map.show({ model, metric, matches: view.matches });
}

/** Draws the tokens by name, or by their bytes again, with or without marks on spaces; what is in sight stays in sight. */
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

/** Chunks that were just built know nothing yet of pins and matches. */
function built(view) {
  if (!view.model) return;
  mark(view);
  if (view.matches) markMatches(view);
}

function showMatches(view, matches) {
  view.matches = matches;
  markMatches(view);
  view.map.show({ matches });
}

function markMatches(view) {
  view.text.each((span) => {
    const kind = view.matches?.[span.index];
    if (kind) span.setAttribute("data-match", kind === 2 ? "now" : "");
    else if (span.hasAttribute("data-match")) span.removeAttribute("data-match");
  });
}

function mark(view) {
  const { model, text, parts } = view;
  const pinned = localIndex(model, view.pinned);
  flag(view, "marked-hover", text.span(view.hovered), "data-hover");
  flagPins(view);
  flag(view, "marked-focus", text.span(view.focused), "data-focus");
  view.plots.mark(view.hovered, pinned);
  view.map.follow({ pinned });
  view.compare.show(model, view.pins, view.metric);
  const shown = view.hovered ?? pinned;
  parts.status.classList.toggle("tv-dim", shown === null);
  if (shown === null) parts.status.textContent = HINT;
  else parts.status.replaceChildren(...statusOf(view, shown, shown === pinned));
}

function statusOf(view, index, isPinned) {
  const place = `token ${(view.model.start + index + 1).toLocaleString("en-US")} `;
  const text = element("bdi", "tv-status-text", {}, literal(cut(view.model.token(index))));
  return [place, text, ...(isPinned ? [element("span", "tv-dim", {}, " pinned")] : [])];
}

function flag(view, slot, span, attribute) {
  if (view[slot] === span) return;
  view[slot]?.removeAttribute(attribute);
  span?.setAttribute(attribute, "");
  view[slot] = span;
}

/** Shows beneath the text which of its tokens are in sight. */
function inSight(view) {
  const inView = view.text.inView();
  view.map.follow({ inView });
  view.plots.inView(inView);
}

function flagPins(view) {
  const spans = view.pins.map((position) => view.text.span(localIndex(view.model, position))).filter(Boolean);
  for (const span of view.flagged ?? []) if (!spans.includes(span)) span.removeAttribute("data-pinned");
  for (const span of spans) span.setAttribute("data-pinned", "");
  view.flagged = spans;
}

/** Scrolls the text to a token and the heatmap too, without moving the page. */
function reveal(view, index) {
  view.text.reveal(index);
  view.plots.reveal(index);
}

function paintTheme(view) {
  const style = getComputedStyle(view.parts.root);
  const read = (name, other) => parseColor(style.getPropertyValue(name)) ?? other;
  const background = read("--st-background-color", [255, 255, 255]);
  const text = read("--st-text-color", [49, 51, 63]);
  const colors = palette(background);
  view.parts.palette.textContent = rulesOf(colors, text);
  view.parts.root.dataset.theme = colors.dark ? "dark" : "light";
  view.plots.paint(colors, text, background.map((channel, i) => channel + 0.3 * (text[i] - channel)));
  view.map.show({ colors, ink: text, matchInk: read("--st-primary-color", text) });
}

function listenText(view) {
  const { text, tooltip } = view.parts;
  const tokenOf = (event) => event.target.closest?.(".tv-tok")?.index ?? null;
  text.onpointermove = (event) => hover(view, tokenOf(event), true);
  text.onpointerleave = () => hover(view, null, false);
  text.onscroll = () => {
    // Scrolled by the keyboard, the card follows its token; scrolled by hand, the token has left the pointer.
    const follows = view.focused === view.hovered && view.text.span(view.focused) !== undefined;
    if (follows) placeTooltip(tooltip, surroundings(view, view.focused));
    else tooltip.hidden = true;
  };
  text.onclick = (event) => {
    const index = tokenOf(event);
    // Selecting text to copy it must not pin.
    if (index === null || String(getSelection()).length > 0) return;
    view.focused = index;
    togglePin(view, index, false, event.shiftKey);
  };
  text.onmousedown = (event) => {
    // With Shift the browser would select all text from the last click on, and a selection pins nothing.
    if (!event.shiftKey || tokenOf(event) === null) return;
    event.preventDefault();
    text.focus({ preventScroll: true });
  };
  text.onblur = () => {
    view.focused = null;
    hover(view, null, false);
    mark(view);
  };
}

/** To the next (or previous) of the loudest tokens of the metric. */
function extreme(view, here, direction, withTooltip) {
  const index = view.metric && stepAlong(shown(view).extremes, here, direction);
  if (index !== null) focusOn(view, index, withTooltip);
}

function focusOn(view, index, withTooltip) {
  view.focused = index;
  reveal(view, index);
  hover(view, index, withTooltip);
  mark(view);
  view.parts.live.textContent = spoken(view.model, index, view.metric);
}

function close(view) {
  document.removeEventListener("scroll", view.away, { capture: true });
  view.plots.close();
  view.text.close();
  view.map.close();
  if (view.meeting?.listener === view.listener) view.meeting.listener = null;
}
