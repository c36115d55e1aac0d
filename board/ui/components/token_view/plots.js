// What lies beneath the text, chart and heatmap, over one stretch of the response: its moves by pointer, key and link.

import { createChart } from "./chart.js";
import { createHeat } from "./heat.js";
import { whole } from "./format.js";
import { fitStretch, panStretch, readStretch, stretchName, stretchWith, tokensOfStretch, wholeStretch, zoomStretch } from "./stretch.js";

/** Milliseconds without a move after which the stretch is reported. */
const REST = 500;
/** Share of what is in view that a bracket key moves. */
const STRIDE = 0.5;

/**
 * Chart and heatmap in the elements `parts` of the skeleton. `on` holds what they tell: hover(index or null), pin(index), metric(name),
 * text(index) when the text is to go to a token, moved() when the stretch has come to rest at another.
 */
export function createPlots(parts, on) {
  const state = { model: null, stretch: wholeStretch(1), told: "all", timer: 0 };
  const move = (stretch, scrolled = false) => {
    put(fitStretch(state.model.n, stretch), scrolled);
    clearTimeout(state.timer);
    state.timer = setTimeout(() => name() !== state.told && on.moved(), REST);
  };
  const zoom = (factor, around) => move(zoomStretch(state.model.n, state.stretch, factor, around));
  const brush = (stretch) => {
    move(stretch);
    on.text(tokensOfStretch(state.model.n, state.stretch)[0]);
  };
  const heat = createHeat(parts.heat, { ...on, move, brush, zoom });
  const chart = createChart(parts.chart, { ...on, brush, zoom });
  const name = () => stretchName(state.model.n, state.stretch, state.model.start);
  const put = (stretch, scrolled) => {
    state.stretch = stretch;
    heat.place(stretch, scrolled);
    chart.place(stretch);
    sayStretch(parts, state);
  };
  const middle = () => state.stretch.from + state.stretch.count / 2;
  const zoomAt = (factor, index) => {
    if (index !== null) put(stretchWith(state.model.n, state.stretch, index), false);
    zoom(factor, index === null ? middle() : index + 0.5);
  };
  parts.zoom.onclick = (event) => {
    const factor = event.target.closest("[data-zoom]")?.dataset.zoom;
    if (factor !== undefined) zoomAt(Number(factor), heat.pinned());
  };

  return {
    /** The elements that take the keys of `keys`. */
    focusable: [heat.scroller, chart.plot],
    show(model) {
      clearTimeout(state.timer);
      Object.assign(state, { model, told: "all" });
      heat.show(model);
      put(wholeStretch(model.n), false);
    },
    choose(metric) {
      heat.choose(metric?.name);
      chart.choose(state.model, metric);
    },
    paint(colors, ink, faint) {
      heat.paint(colors, ink, faint);
      chart.paint(ink, faint);
    },
    rescaled: heat.rescaled,
    mark(hovered, pinned) {
      heat.mark(hovered, pinned);
      chart.mark(hovered, pinned);
    },
    inView: chart.view,
    reveal(index) {
      const next = stretchWith(state.model.n, state.stretch, index);
      if (next !== state.stretch) move(next);
    },
    /** The stretch as it is reported; what is reported need not be heard again. */
    tell() {
      state.told = name();
      return state.told;
    },
    /** Opens the stretch of a link; its first token, or null when the server only repeats what it was told. */
    open(text) {
      const stretch = text === state.told ? null : readStretch(state.model.n, text, state.model.start);
      if (stretch === null) return null;
      clearTimeout(state.timer);
      put(stretch, false);
      state.told = text;
      return tokensOfStretch(state.model.n, stretch)[0];
    },
    keys: (index) => ({
      "+": () => zoomAt(2, index),
      "-": () => zoomAt(0.5, index),
      0: () => zoom(0, 0),
      "[": () => move(panStretch(state.model.n, state.stretch, -STRIDE)),
      "]": () => move(panStretch(state.model.n, state.stretch, STRIDE)),
    }),
    close() {
      clearTimeout(state.timer);
      heat.close();
      chart.close();
    },
  };
}

/** Which tokens are drawn, where that is not all of them. */
function sayStretch({ zoom, stretch: words }, { model, stretch }) {
  const all = stretch.count >= model.n;
  const [first, last] = model.n === 0 ? [0, 0] : tokensOfStretch(model.n, stretch);
  const text = all ? "" : `tokens ${whole(model.start + first + 1)}–${whole(model.start + last + 1)}`;
  if (words.textContent !== text) words.textContent = text;
  zoom.querySelector('[data-zoom="0"]').disabled = all;
}
