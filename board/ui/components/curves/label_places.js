// Where names stand so that none lies on another. Pure.

/**
 * Places moved so that each is at least `height` from its neighbours, in their order, none further than needed, within `low` to `high`
 * as far as they fit there.
 * @param {number[]} places
 * @param {number} height
 * @param {number} low
 * @param {number} high
 * @returns {number[]}
 */
export function apart(places, height, low, high) {
  const order = places.map((_, at) => at).sort((one, other) => places[one] - places[other] || one - other);
  const moved = order.map((at) => places[at]);
  for (let at = 1; at < moved.length; at += 1) moved[at] = Math.max(moved[at], moved[at - 1] + height);
  const shift = Math.max(0, ...moved.map((place, at) => place - places[order[at]])) / 2;
  for (let at = 0; at < moved.length; at += 1) moved[at] -= shift;
  for (let at = moved.length - 1, free = high; at >= 0; at -= 1, free -= height) moved[at] = Math.min(moved[at], free);
  for (let at = 0, free = low; at < moved.length; at += 1, free += height) moved[at] = Math.max(moved[at], free);
  /** @type {number[]} */
  const placed = [];
  order.forEach((at, rank) => {
    placed[at] = moved[rank];
  });
  return placed;
}

/**
 * A name in at most `most` letters; names that begin alike differ at their ends.
 * @param {string} name
 * @param {number} most
 */
export function shortName(name, most) {
  const letters = [...name];
  if (letters.length <= most) return name;
  const half = most >> 1;
  return `${letters.slice(0, half).join("")}…${letters.slice(1 - half).join("")}`;
}
