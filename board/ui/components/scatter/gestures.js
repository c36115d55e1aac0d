// What the pointer means: a click, or a box or a lasso that is drawn. Tells places between the axes, no pixels.

import { placeAt } from "./plane.js";

/** @import { Drag, Mode, Place, Plane } from "./types" */

const STILL = 4; // pixels that a click may move
const MOST_PLACES = 2_000;
const APART = 3; // pixels between two corners of a lasso

/**
 * @typedef {object} Gestures
 * @property {() => Plane} plane
 * @property {() => Mode | null} mode null where a drag draws nothing
 * @property {(x: number, y: number) => void} hover pixels
 * @property {() => void} leave
 * @property {(x: number, y: number) => void} click pixels
 * @property {(drag: Drag | null) => void} drag what is being drawn; null once it is over
 * @property {(drag: Drag) => void} done
 */

/**
 * @param {HTMLElement} area
 * @param {Gestures} on
 * @returns {() => void} lets go of what is being drawn
 */
export function listenGestures(area, on) {
  /** @type {{ start: Place; last: Place; drag: Drag | null } | null} */
  let held = null;
  const pixels = (/** @type {PointerEvent} */ event) => {
    const { left, top } = area.getBoundingClientRect();
    return /** @type {Place} */ ([event.clientX - left, event.clientY - top]);
  };
  const stop = () => {
    if (held?.drag) on.drag(null);
    held = null;
  };
  area.onpointerdown = (event) => {
    if (event.button !== 0) return;
    area.setPointerCapture(event.pointerId);
    const at = pixels(event);
    held = { start: at, last: at, drag: null };
  };
  area.onpointermove = (event) => {
    const at = pixels(event);
    if (!held) return on.hover(...at);
    if (!held.drag && far(held.start, at) < STILL) return;
    const mode = on.mode();
    if (!mode) return;
    held.drag ??= { mode, path: [placeAt(on.plane(), ...held.start)] };
    if (held.drag.mode === "box") held.drag.path = [held.drag.path[0], placeAt(on.plane(), ...at)];
    else if (far(held.last, at) >= APART && held.drag.path.length < MOST_PLACES) {
      held.drag.path.push(placeAt(on.plane(), ...at));
      held.last = at;
    }
    on.leave();
    on.drag(held.drag);
  };
  area.onpointerup = (event) => {
    const drawn = held;
    stop();
    if (!drawn) return;
    if (!drawn.drag && far(drawn.start, pixels(event)) < STILL) on.click(...pixels(event));
    if (!drawn.drag) return;
    if (drawn.drag.path.length >= (drawn.drag.mode === "box" ? 2 : 3)) on.done(drawn.drag);
  };
  area.onpointercancel = stop;
  area.onpointerleave = () => on.leave();
  return stop;
}

/**
 * @param {Place} one
 * @param {Place} other
 */
function far(one, other) {
  return Math.hypot(one[0] - other[0], one[1] - other[1]);
}
