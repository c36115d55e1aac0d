// Builds elements. Text only ever enters the page through here, as text: nothing is parsed as markup.

/** @import { Deferred, SizeWatch } from "./plain_types" */

/**
 * An element with a class, properties and children; a string child becomes a text node. Keys with a dash are set as attributes.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {Record<string, unknown>} [properties]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, className = "", properties = {}, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, String(value));
    else Reflect.set(made, name, value);
  }
  made.append(...children);
  return made;
}

/**
 * Puts `root` in the place of what was drawn before; where the reader's focus was in that, it stays.
 * @param {HTMLElement | ShadowRoot} parent
 * @param {HTMLElement | null} before
 * @param {HTMLElement} root
 */
export function replace(parent, before, root) {
  const within = before?.getRootNode();
  const focused = within instanceof ShadowRoot || within instanceof Document ? within.activeElement : null;
  before?.remove();
  parent.append(root);
  if (focused && before?.contains(focused)) root.focus({ preventScroll: true });
}

/**
 * Runs `work` once per frame however often it is asked for.
 * @param {() => void} work
 * @returns {Deferred}
 */
export function perFrame(work) {
  let asked = 0;
  const ask = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      work();
    });
  };
  ask.cancel = () => {
    cancelAnimationFrame(asked);
    asked = 0;
  };
  return ask;
}

/**
 * Runs `work` when the browser has nothing better to do.
 * @param {() => void} work
 */
export function whenIdle(work) {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(() => work(), { timeout: 2000 });
  else setTimeout(work, 50);
}

/**
 * Calls `changed` when `measured(box)` is another than when `drawn()` was called last. An observer of sizes also tells of the first it
 * finds: what had just been drawn would be drawn again.
 * @param {HTMLElement} box
 * @param {(box: HTMLElement) => number | string} measured
 * @param {() => void} changed
 * @returns {SizeWatch}
 */
export function whenResized(box, measured, changed) {
  /** @type {number | string | null} */
  let before = null;
  const sizes = new ResizeObserver(() => {
    if (measured(box) !== before) changed();
  });
  sizes.observe(box);
  return {
    drawn() {
      before = measured(box);
    },
    stop: () => sizes.disconnect(),
  };
}

/**
 * Runs `work` once per frame however often it is asked for, and by itself when `box` is no longer as wide as it was then.
 * @param {HTMLElement} box
 * @param {() => void} work
 * @returns {Deferred}
 */
export function perFrameAndWidth(box, work) {
  const draw = perFrame(() => {
    width.drawn();
    work();
  });
  const width = whenResized(box, ({ clientWidth }) => clientWidth, draw);
  const ask = () => draw();
  ask.cancel = () => {
    width.stop();
    draw.cancel();
  };
  return ask;
}

/**
 * The canvas's drawing context, which every browser has.
 * @param {HTMLCanvasElement} canvas
 */
export function contextOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}
