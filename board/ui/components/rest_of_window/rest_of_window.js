// Keeps --rest-of-window: the pixels from the top of one element to the bottom of the window, as the page stands unscrolled.

import { whenGone } from "../leaving.js";

/** @import { Mounted } from "../streamlit" */

const GAP = 16; // kept free below
const LEAST = 320;
const LEAST_SHARE = 0.6; // of the window, where the element begins so low that there is less

const stops = new WeakMap();

/** @param {Mounted<{ element: string }>} mounted */
export default function ({ data, parentElement }) {
  stops.get(parentElement)?.();
  stops.set(parentElement, watch(`.st-key-${CSS.escape(data.element)}`));
  return whenGone(parentElement, () => {
    stops.get(parentElement)?.();
    stops.delete(parentElement);
  });
}

/** @param {string} selector */
function watch(selector) {
  const root = document.documentElement;
  let waiting = 0;
  const measure = () => {
    waiting = 0;
    const element = document.querySelector(selector);
    const main = element?.closest('[data-testid="stMain"]');
    if (!element || !main) return;
    const top = element.getBoundingClientRect().top + main.scrollTop;
    const rest = Math.floor(
      Math.max(window.innerHeight - top - GAP, LEAST, top > window.innerHeight / 2 ? LEAST_SHARE * window.innerHeight : 0),
    );
    const wanted = `${rest}px`;
    if (root.style.getPropertyValue("--rest-of-window") !== wanted) root.style.setProperty("--rest-of-window", wanted);
  };
  const soon = () => {
    waiting ||= requestAnimationFrame(measure);
  };
  const mutations = new MutationObserver(soon); // what stands above comes and goes
  const sizes = new ResizeObserver(soon); // and wraps
  mutations.observe(document.body, { childList: true, subtree: true });
  sizes.observe(document.body);
  const page = document.querySelector('[data-testid="stMainBlockContainer"]');
  if (page) sizes.observe(page);
  window.addEventListener("resize", soon);
  soon();
  return () => {
    mutations.disconnect();
    sizes.disconnect();
    window.removeEventListener("resize", soon);
    cancelAnimationFrame(waiting);
    root.style.removeProperty("--rest-of-window");
  };
}
