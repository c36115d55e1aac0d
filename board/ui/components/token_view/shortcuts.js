// What each key does, in the text, in the chart and heatmap beneath it, and in the row of metrics. Knows what there is to do, not how.

import { neighbourMetric } from "./bar.js";
import { localIndex } from "./model.js";
import { verticalNeighbour } from "./vertical_neighbour.js";

/** @import { KeyActions, KeyboardActions, View } from "./view_types" */

/**
 * `act` is what keys do to the view: focusOn, choose, togglePin, extreme, unpin.
 * @param {View} view
 * @param {KeyboardActions} act
 */
export function listenShortcuts(view, act) {
  const { text, chooser } = view.parts;
  text.onkeydown = (event) => key(view, event, true, act);
  for (const part of view.plots.focusable) part.onkeydown = (event) => key(view, event, false, act);
  chooser.onkeydown = (event) => {
    const name = neighbourMetric(view.model, view.metric?.name, event.key);
    if (name === null) return;
    event.preventDefault();
    act.choose(view, name, true);
  };
}

/**
 * @param {View} view
 * @param {KeyboardEvent} event
 * @param {boolean} inText
 * @param {KeyboardActions} act
 */
function key(view, event, inText, act) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const action = actions(view, inText, event.shiftKey, act)[event.key];
  if (action === undefined || view.model.n === 0) return;
  event.preventDefault();
  action();
}

/**
 * @param {View} view
 * @param {boolean} inText
 * @param {boolean} shift
 * @param {KeyboardActions} act
 * @returns {KeyActions}
 */
function actions(view, inText, shift, act) {
  const here = view.focused ?? localIndex(view.model, view.pinned) ?? view.hovered;
  const last = view.model.n - 1;
  /** @param {number} index */
  const go = (index) => () => act.focusOn(view, Math.min(last, Math.max(0, index)), inText);
  /** @param {number} direction */
  const side = (direction) => view.model.folding.past((here ?? -direction) + direction, direction);
  /** @param {number} direction */
  const line = (direction) => () =>
    act.focusOn(view, here === null ? 0 : (verticalNeighbour(view.text, view.model.n, here, direction) ?? here), true);
  const vertical = inText ? { ArrowDown: line(1), ArrowUp: line(-1) } : {};
  return {
    ArrowRight: go(here === null ? 0 : side(1)),
    ArrowLeft: go(here === null ? 0 : side(-1)),
    Home: go(0),
    End: go(last),
    n: () => act.extreme(view, here, 1, inText),
    p: () => act.extreme(view, here, -1, inText),
    m: () => view.metric && act.choose(view, neighbourMetric(view.model, view.metric.name, "ArrowRight")),
    f: () => view.text.fold(here ?? view.text.inView()?.[0] ?? 0),
    F: () => view.text.foldAll(),
    "/": () => view.searchBar.search(),
    g: () => view.searchBar.goto(),
    Escape: () => {
      view.searchBar.help(false);
      act.unpin();
    },
    t: () => view.table.toggle(),
    Enter: () => here !== null && act.togglePin(view, here, true, shift),
    ...view.plots.keys(here),
    ...vertical,
  };
}
