// Which token stands above or below another in the text.

/** @import { TextPane } from "./view_types" */

/**
 * The token above or below another: nearest in x on the next line in that direction; null at the end.
 * @param {TextPane} text
 * @param {number} n
 * @param {number} from
 * @param {number} direction
 * @returns {number | null}
 */
export function verticalNeighbour(text, n, from, direction) {
  const here = text.reach(from).getBoundingClientRect();
  const middle = here.left + here.width / 2;
  let best = null;
  let line = null;
  for (let i = from + direction; i >= 0 && i < n; i += direction) {
    if (text.hides(i)) continue;
    const box = text.reach(i).getClientRects()[0];
    if (!box || Math.abs(box.top - here.top) < here.height / 2) continue;
    if (line !== null && Math.abs(box.top - line) > box.height / 2) break;
    line = box.top;
    const gap = Math.abs(box.left + box.width / 2 - middle);
    if (best === null || gap < best.gap) best = { i, gap };
  }
  return best?.i ?? null;
}
