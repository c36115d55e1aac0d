// How tall an element may be to end where the window does, as the page stands unscrolled.

import { perFrame } from "../token_view/dom.js";

const GAP = 16; // kept free below
const LEAST = 320;
const LEAST_SHARE = 0.6; // of the window, where the element begins so low that there is less

/**
 * Keeps `--rest` of `root`, in pixels, now and whenever the window or what stands above changes. Gives what ends it.
 * @param {HTMLElement} root
 */
export function keepRest(root) {
  const holders = holdersOf(root);
  const measure = () => {
    const top = holders.reduce((sum, one) => sum + one.scrollTop, root.getBoundingClientRect().top);
    const rest = Math.max(innerHeight - top - GAP, LEAST, top > innerHeight / 2 ? LEAST_SHARE * innerHeight : 0);
    root.style.setProperty("--rest", `${Math.floor(rest)}px`);
  };
  const soon = perFrame(measure);
  const sizes = new ResizeObserver(soon);
  for (const one of holders) sizes.observe(one);
  measure();
  return () => {
    sizes.disconnect();
    soon.cancel();
  };
}

/**
 * @param {Node} node
 * @returns {Element[]}
 */
function holdersOf(node) {
  const holder = node instanceof ShadowRoot ? node.host : node.parentNode;
  if (!holder) return [];
  return holder instanceof Element ? [holder, ...holdersOf(holder)] : holdersOf(holder);
}
