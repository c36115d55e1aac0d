// Builds elements. Text only ever enters the page through here, as text: nothing is parsed as markup.

/** @import { Deferred } from "./plain_types" */

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
  return once(work, requestAnimationFrame, cancelAnimationFrame);
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
 * Runs `work` once when the browser has painted and has nothing else to do, soon in any case, however often it is asked for.
 * @param {() => void} work
 * @returns {Deferred}
 */
export function perIdle(work) {
  if ("requestIdleCallback" in globalThis)
    return once(work, (then) => requestIdleCallback(then, { timeout: 300 }), cancelIdleCallback);
  return once(work, (then) => window.setTimeout(then, 50), clearTimeout);
}

/**
 * The canvas's drawing context, which every browser has.
 * @param {HTMLCanvasElement} canvas
 */
export function contextOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/**
 * @param {() => void} work
 * @param {(then: () => void) => number} later
 * @param {(asked: number) => void} never
 * @returns {Deferred}
 */
function once(work, later, never) {
  let asked = 0;
  const ask = () => {
    if (asked) return;
    asked = later(() => {
      asked = 0;
      work();
    });
  };
  ask.cancel = () => never(asked);
  return ask;
}
