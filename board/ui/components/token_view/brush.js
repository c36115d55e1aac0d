// The pointer over an axis of tokens, in the chart and in the heatmap alike: it hovers and pins a token, and a drag zooms to what it drew over.

import { betweenTokens } from "./zoom_range.js";

/** @import { BrushAxis, BrushEvents } from "./view_types" */

/** Pixels that a press must move to be a drag and no click. */
const LEAST = 4;

/**
 * Listens on `surface` and draws the drag as `band`, which lies in it; Escape pressed in `keys` gives the drag up. `axis` says what is drawn:
 * n() tokens, from() the first token and fraction, pitch() pixels per token, at(event) the token to point at or null, pinned().
 * `on` holds what it tells: hover(index or null), pin(index, add), brush(zoomRange), zoom(factor, token).
 * @param {HTMLElement} surface
 * @param {HTMLElement} keys
 * @param {HTMLElement} band
 * @param {BrushAxis} axis
 * @param {BrushEvents} on
 */
export function listenBrush(surface, keys, band, axis, on) {
  /** @type {{ x: number; moved: boolean } | null} */
  let drag = null;
  /** @type {number | null} */
  let before = null;
  /** @param {MouseEvent} event */
  const xOf = (event) => event.clientX - surface.getBoundingClientRect().left;
  /** @param {number} x */
  const tokenUnder = (x) => {
    const inside = Math.min(surface.clientWidth - 0.01, Math.max(0, x));
    return Math.min(axis.n() - 1, Math.max(0, Math.floor(axis.from() + inside / axis.pitch())));
  };
  const stop = () => {
    drag = null;
    band.hidden = true;
  };
  surface.onpointerdown = (event) => {
    if (event.button !== 0) return;
    drag = { x: xOf(event), moved: false };
    surface.setPointerCapture(event.pointerId);
  };
  surface.onpointermove = (event) => {
    const x = xOf(event);
    if (drag && Math.abs(x - drag.x) > LEAST) drag.moved = true;
    if (drag?.moved) drawBand(band, drag.x, x, surface.clientWidth);
    on.hover(axis.at(event));
  };
  surface.onpointerup = (event) => {
    if (drag?.moved) on.brush(betweenTokens(axis.n(), tokenUnder(drag.x), tokenUnder(xOf(event))));
    else if (drag) before = clicked(event, axis.at(event), before);
    stop();
  };
  surface.onpointercancel = stop;
  surface.onpointerleave = () => on.hover(null);
  keys.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !drag) return;
    stop();
    // Escape has done its work; what is pinned stays.
    event.stopImmediatePropagation();
  });
  surface.ondblclick = () => on.zoom(0, 0);
  // Only with Ctrl (or a pinch, which arrives the same way): a plain wheel belongs to the page.
  surface.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      on.zoom(Math.exp(-event.deltaY / 200), axis.from() + xOf(event) / axis.pitch());
    },
    { passive: false },
  );

  /**
   * The second click of a double click takes back what the first one pinned.
   * @param {MouseEvent} event
   * @param {number | null} index
   * @param {number | null} pinnedBefore
   */
  function clicked(event, index, pinnedBefore) {
    if (index === null) return pinnedBefore;
    const pinned = axis.pinned();
    const second = event.detail === 2;
    if (!second) on.pin(index, event.shiftKey);
    else if (pinned !== pinnedBefore) on.pin(pinnedBefore ?? pinned ?? index);
    return second ? null : pinned;
  }
}

/**
 * @param {HTMLElement} band
 * @param {number} one
 * @param {number} other
 * @param {number} width
 */
function drawBand(band, one, other, width) {
  const [left, right] = [Math.max(0, Math.min(one, other)), Math.min(width, Math.max(one, other))];
  band.hidden = false;
  band.style.left = `${left}px`;
  band.style.width = `${right - left}px`;
}
