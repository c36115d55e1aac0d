// An empty place that tells once when it comes into the window, and stays there while the page is still being put together.
// One that is in the window from the start waits until the reader scrolls, or for a while: the first screen is to be there first.
// Nothing is told while the script runs or the page is being left: it would leave the next one empty.

import { whenGone } from "../leaving.js";
import { isIdle } from "../page_on_its_way.js";

/** @import { Mounted, Parent } from "../streamlit" */

/**
 * @typedef {object} State
 * @property {HTMLElement} place
 * @property {IntersectionObserver} observer
 * @property {AbortController} listening
 * @property {() => void} seen
 */

const SETTLING = 350; // milliseconds in which what stands above the place may still grow and move it out of the window

const PATIENCE = 6_000; // milliseconds after which what is in the window comes to a reader who does not scroll, too

const STIRS = ["scroll", "wheel", "touchmove", "beforeprint"];

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
  return whenGone(parentElement, () => {
    states.delete(parentElement);
    state.observer.disconnect();
    state.listening.abort();
    state.place.remove();
  });
}

/**
 * @param {Parent} parentElement
 * @returns {State}
 */
function build(parentElement) {
  const place = document.createElement("div");
  parentElement.append(place);
  const listening = new AbortController();
  let [waiting, stirred, inside] = [0, false, false];
  const wait = () => {
    clearTimeout(waiting);
    if (inside) waiting = window.setTimeout(tell, stirred ? SETTLING : PATIENCE);
  };
  const tell = () => {
    if (!place.isConnected) return;
    if (isIdle()) state.seen();
    else waiting = window.setTimeout(tell, SETTLING);
  };
  /** @param {IntersectionObserverEntry[]} entries */
  const moved = (entries) => {
    inside = entries[entries.length - 1].intersectionRatio >= ENOUGH;
    wait();
  };
  const stir = () => {
    if (stirred) return;
    stirred = true;
    wait();
  };
  for (const kind of STIRS) window.addEventListener(kind, stir, { capture: true, passive: true, signal: listening.signal });
  const observer = new IntersectionObserver(moved, { threshold: [0, ENOUGH] });
  const state = { place, observer, listening, seen: () => {} };
  return state;
}
