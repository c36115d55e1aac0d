// Where the points of a timeline lie, and which of them the pointer or a key means. Pure.

/** @typedef {{ x: Float64Array; y: Float64Array; radius: Float64Array }} Places */
/** @typedef {{ visit: ArrayLike<number>; height: ArrayLike<number>; size: ArrayLike<number> }} Points */
/** @typedef {(value: number) => number} Scale */

const SMALLEST = 3;
const LARGEST = 7;
const WIDEST = 16; // pixels to either side of its visit that a point may lie
const MANY = 120; // visits whose lines, drawn through each, would be noise
const CROWDED = 1.2; // points to a pixel of width, beyond which they are small
const SMALL = 0.55;
const APART = 2.1; // radii between equal points of a visit

/**
 * The least and the greatest finite number; null where there is none.
 * @param {ArrayLike<number>} values
 * @returns {[number, number] | null}
 */
export function ends(values) {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < values.length; at += 1) {
    if (!Number.isFinite(values[at])) continue;
    if (values[at] < low) low = values[at];
    if (values[at] > high) high = values[at];
  }
  return low <= high ? [low, high] : null;
}

/**
 * The share of the way from one end to the other, from 0 to 1; halfway where the ends are one, NaN for what is missing.
 * @param {number} value
 * @param {[number, number] | null} between
 */
export function share(value, between) {
  if (between === null || !Number.isFinite(value)) return NaN;
  const [low, high] = between;
  if (low === high) return 0.5;
  return Math.min(1, Math.max(0, value / 2 - low / 2) / (high / 2 - low / 2));
}

/**
 * From numbers to pixels.
 * @param {[number, number]} between
 * @param {number} from
 * @param {number} to
 * @returns {Scale}
 */
export function pixels(between, from, to) {
  return (value) => from + share(value, between) * (to - from);
}

/**
 * The ends of an axis with room beyond its numbers.
 * @param {[number, number] | null} between
 * @returns {[number, number]}
 */
export function roomy(between) {
  const [low, high] = between ?? [0, 1];
  const room = (high / 2 - low / 2) * 0.16 || Math.abs(low) * 0.1 || 0.5;
  return [Math.max(low - room, -Number.MAX_VALUE), Math.min(high + room, Number.MAX_VALUE)];
}

/**
 * The mean of each number and its neighbours, `reach` of them on either side; what is missing is left out, and stays missing.
 * @param {Float64Array} values
 * @param {number} reach
 */
export function smoothed(values, reach) {
  const sums = new Float64Array(values.length + 1);
  const counts = new Float64Array(values.length + 1);
  for (let at = 0; at < values.length; at += 1) {
    const missing = Number.isNaN(values[at]);
    sums[at + 1] = sums[at] + (missing ? 0 : values[at]);
    counts[at + 1] = counts[at] + (missing ? 0 : 1);
  }
  return values.map((value, at) => {
    const [from, to] = [Math.max(0, at - reach), Math.min(values.length, at + reach + 1)];
    return Number.isNaN(value) ? NaN : (sums[to] - sums[from]) / (counts[to] - counts[from]);
  });
}

/**
 * Over how many visits on either side lines are averaged: none of few visits, more the more there are.
 * @param {number} visits
 */
export function reachOf(visits) {
  return visits > MANY ? Math.round(visits / 50) : 0;
}

/**
 * Where each point lies: at its visit, those of equal height beside each other as far as there is room between the visits.
 * @param {Points} points in the order of their visits
 * @param {Float64Array} visitX where each visit stands, rising
 * @param {Scale} scaleY
 * @returns {Places}
 */
export function placed(points, visitX, scaleY) {
  const count = points.visit.length;
  const shrunk = crowded(points, visitX) ? SMALL : 1;
  const [x, y, radius] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  const sizes = ends(points.size);
  for (let at = 0; at < count; at += 1) {
    const big = share(points.size[at], sizes);
    radius[at] = shrunk * (Number.isNaN(big) ? 4 : Math.sqrt(SMALLEST ** 2 + big * (LARGEST ** 2 - SMALLEST ** 2)));
    y[at] = scaleY(points.height[at]);
  }
  for (let from = 0, to = 0; from < count; from = to) {
    while (to < count && points.visit[to] === points.visit[from]) to += 1;
    standBeside(points, { x, y, radius }, [from, to], visitX);
  }
  return { x, y, radius };
}

/**
 * Whether there are more points than there is room for side by side.
 * @param {Points} points
 * @param {Float64Array} visitX
 */
export function crowded({ visit }, visitX) {
  return visit.length > CROWDED * (visitX[visitX.length - 1] - visitX[0]) && visitX.length > MANY;
}

/**
 * @param {Points} points
 * @param {Places} places
 * @param {[number, number]} range
 * @param {Float64Array} visitX
 */
function standBeside({ visit, height }, { x, radius }, [from, to], visitX) {
  const at = visit[from];
  const half = Math.min(WIDEST, ...[visitX[at] - visitX[at - 1], visitX[at + 1] - visitX[at]].map((gap) => gap * 0.42 || WIDEST));
  /** @type {Map<number, number[]>} */
  const equals = new Map();
  for (let one = from; one < to; one += 1) equals.set(height[one], [...(equals.get(height[one]) ?? []), one]);
  for (const row of equals.values()) {
    const widest = row.reduce((most, one) => Math.max(most, radius[one]), 0);
    const apart = Math.min(APART * widest, (2 * half) / Math.max(1, row.length - 1));
    for (let nth = 0; nth < row.length; nth += 1) x[row[nth]] = visitX[at] + (nth - (row.length - 1) / 2) * apart;
  }
}

/**
 * The point nearest to a place, no farther than `reach` pixels; null where there is none.
 * @param {Places} places
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 * @returns {number | null}
 */
export function nearest(places, x, y, reach) {
  let [best, distance] = [-1, reach * reach];
  for (let at = 0; at < places.x.length; at += 1) {
    const apart = (places.x[at] - x) ** 2 + (places.y[at] - y) ** 2;
    if (apart <= distance) [best, distance] = [at, apart];
  }
  return best < 0 ? null : best;
}

/**
 * The highest point of the next visit in that direction that has one; that of the first or the last visit from nowhere. Stays at an end.
 * @param {Points} points
 * @param {number | null} at
 * @param {1 | -1} by
 * @returns {number | null}
 */
export function alongVisits({ visit, height }, at, by) {
  if (!visit.length) return null;
  let to = at === null ? (by > 0 ? 0 : visit.length - 1) : at;
  if (at !== null) {
    while (visit[to] === visit[at]) to += by;
    if (to < 0 || to >= visit.length) return at;
  }
  return highest(visit, height, to);
}

/**
 * @param {ArrayLike<number>} visit
 * @param {ArrayLike<number>} height
 * @param {number} within a point of the visit
 */
function highest(visit, height, within) {
  let first = within;
  while (visit[first - 1] === visit[within]) first -= 1;
  let best = first;
  for (let one = first; visit[one] === visit[within]; one += 1) if (height[one] > height[best]) best = one;
  return best;
}

/**
 * The next point of the same visit, upwards (1) or downwards (-1); the same at an end.
 * @param {Points} points
 * @param {number} at
 * @param {1 | -1} by
 */
export function withinVisit({ visit, height }, at, by) {
  const own = [];
  for (let one = at; visit[one] === visit[at]; one -= 1) own.unshift(one);
  for (let one = at + 1; visit[one] === visit[at]; one += 1) own.push(one);
  own.sort((one, other) => height[one] - height[other] || one - other);
  const place = own.indexOf(at) + by;
  return own[place] ?? at;
}
