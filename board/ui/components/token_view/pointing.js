// Which token the pointer or the keyboard is on: the card beside it, and the way to the next one.

import { togglePin } from "./choosing.js";
import { shown } from "./coloring.js";
import { mark, reveal } from "./highlights.js";
import { localIndex } from "./model.js";
import { stepAlong } from "./search.js";
import { surroundings } from "./surroundings.js";
import { drawTooltip, placeTooltip, spoken } from "./tooltip.js";

/** @import { TokenSpan, View } from "./view_types" */

/**
 * `index` is hovered (null: nothing is); `withTooltip` when the pointer or the keyboard is in the text.
 * @param {View} view
 * @param {number | null} index
 * @param {boolean} withTooltip
 */
export function hover(view, index, withTooltip) {
  if (view.hovered === index && view.parts.tooltip.hidden === !(withTooltip && index !== null)) return;
  view.hovered = index;
  mark(view);
  const { tooltip } = view.parts;
  tooltip.hidden = index === null || !withTooltip;
  if (index === null || !withTooltip) return;
  drawTooltip(tooltip, view.model, index, localIndex(view.model, view.pinned), view.metric);
  placeTooltip(tooltip, surroundings(view, index));
}

/**
 * @param {View} view
 * @param {number} index
 * @param {boolean} withTooltip
 */
export function focusOn(view, index, withTooltip) {
  view.focused = index;
  reveal(view, index);
  hover(view, index, withTooltip);
  mark(view);
  view.parts.live.textContent = spoken(view.model, index, view.metric);
}

/**
 * To the next (or previous) of the loudest tokens of the metric.
 * @param {View} view
 * @param {number | null} here
 * @param {number} direction
 * @param {boolean} withTooltip
 */
export function extreme(view, here, direction, withTooltip) {
  const metric = shown(view);
  const index = metric && stepAlong(metric.extremes, here, direction);
  if (index !== null) focusOn(view, index, withTooltip);
}

/** @param {View} view */
export function listenText(view) {
  const { text, tooltip } = view.parts;
  /** @param {MouseEvent} event */
  const tokenOf = (event) =>
    /** @type {TokenSpan | null} */ (/** @type {Element} */ (event.target).closest(".tv-tok"))?.index ?? null;
  text.onpointermove = (event) => hover(view, tokenOf(event), true);
  text.onpointerleave = () => hover(view, null, false);
  text.onscroll = () => {
    // Scrolled by the keyboard, the card follows its token; scrolled by hand, the token has left the pointer.
    const { focused } = view;
    const follows = focused === view.hovered && view.text.span(focused) !== undefined;
    if (follows && focused !== null) placeTooltip(tooltip, surroundings(view, focused));
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
