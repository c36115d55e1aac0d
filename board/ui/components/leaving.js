// When a component leaves the page: what it listens to ends, and what it drew goes. Knows nothing of what that is.

/** @import { Parent } from "./streamlit" */

/** @type {WeakMap<Parent, () => void>} */
const lastDraws = new WeakMap();

/**
 * What a draw hands back to Streamlit, to be called when the component leaves the page. Streamlit calls that of the last draw, and never
 * that of a draw before; but it calls that of any draw, too, which was still on its way to the component's script when the next one began,
 * as they do under quick clicks. The component stays then, and so must what it drew and what it heard.
 * @param {Parent} parentElement
 * @param {() => void} leave
 */
export function whenGone(parentElement, leave) {
  const look = () => {
    if (lastDraws.get(parentElement) !== gone || parentElement.isConnected) return;
    lastDraws.delete(parentElement);
    leave();
  };
  const gone = () => {
    setTimeout(look); // the page is taken apart first
  };
  lastDraws.set(parentElement, gone);
  return gone;
}
