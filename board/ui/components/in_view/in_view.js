// An empty place that tells once when it comes into the window, and stays there while the page is still being put together.

/** @import { Mounted, Parent } from "../streamlit" */

/**
 * @typedef {object} State
 * @property {HTMLElement} place
 * @property {IntersectionObserver} observer
 * @property {() => void} seen
 */

const SETTLING = 350; // milliseconds in which what stands above the place may still grow and move it out of the window

const ENOUGH = 0.25; // of the place is in the window: an edge at its end is not what the reader looks at

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();

/** @param {Mounted<{ height: number }>} mounted */
export default function ({ data, parentElement, setStateValue }) {
  const state = states.get(parentElement) ?? build(parentElement);
  states.set(parentElement, state);
  state.place.style.height = `${data.height}px`;
  state.seen = () => setStateValue("seen", true);
  state.observer.disconnect();
  if (data.height > 0) state.observer.observe(state.place);
  return () => {
    states.delete(parentElement);
    state.observer.disconnect();
    state.place.remove();
  };
}

/**
 * @param {Parent} parentElement
 * @returns {State}
 */
function build(parentElement) {
  const place = document.createElement("div");
  parentElement.append(place);
  let waiting = 0;
  /** @param {IntersectionObserverEntry[]} entries */
  const moved = (entries) => {
    clearTimeout(waiting);
    if (entries[entries.length - 1].intersectionRatio < ENOUGH) return;
    waiting = window.setTimeout(() => place.isConnected && state.seen(), SETTLING);
  };
  const observer = new IntersectionObserver(moved, { threshold: [0, ENOUGH] });
  const state = { place, observer, seen: () => {} };
  return state;
}
