// The stretch of the response that chart and heatmap show: {from, count} in tokens, fractions allowed while it moves. Pure.

/** Fewest tokens that are shown at once, where the response has as many. */
const CLOSEST_COUNT = 4;
const STRETCH = /^(\d{1,12})-(\d{1,12})$/;

/** The whole response of `n` tokens. */
export function wholeStretch(n) {
  return { from: 0, count: n };
}

/** The nearest stretch that the response has. */
export function fitStretch(n, { from, count }) {
  const size = Math.min(n, Math.max(Math.min(n, CLOSEST_COUNT), count));
  return { from: Math.min(n - size, Math.max(0, from)), count: size };
}

/** `factor` times as close, the place `around` (in tokens, from the response's start) staying where it is; 0 shows everything. */
export function zoomStretch(n, stretch, factor, around) {
  if (factor === 0) return wholeStretch(n);
  const { count } = fitStretch(n, { from: 0, count: stretch.count / factor });
  const share = (around - stretch.from) / stretch.count;
  return fitStretch(n, { from: around - share * count, count });
}

/** Moved by a share of its own length: 0.5 is half of it forwards. */
export function panStretch(n, { from, count }, share) {
  return fitStretch(n, { from: from + share * count, count });
}

/** From one token to another, both included and in either order. */
export function betweenTokens(n, one, other) {
  const [first, last] = one <= other ? [one, other] : [other, one];
  return fitStretch(n, { from: first, count: last + 1 - first });
}

/** The same length with token `index` in its middle, or as it is where it shows that token already. */
export function stretchWith(n, stretch, index) {
  const { from, count } = stretch;
  return index >= from && index + 1 <= from + count ? stretch : fitStretch(n, { from: index + 0.5 - count / 2, count });
}

/** Whether any of token `index` is in the stretch. */
export function showsToken({ from, count }, index) {
  return index + 1 > from && index < from + count;
}

/** First and last token of a stretch, as indices: those that are seen by at least a half. */
export function tokensOfStretch(n, { from, count }) {
  const first = Math.min(n - 1, Math.max(0, Math.round(from)));
  return [first, Math.max(first, Math.min(n - 1, Math.round(from + count) - 1))];
}

/** The short form: "first-last", tokens counted from 0 in the whole response, whose token `start` is our first; "all" for everything. */
export function stretchName(n, stretch, start) {
  if (n === 0 || stretch.count >= n) return "all";
  return tokensOfStretch(n, stretch).map((index) => start + index).join("-");
}

/** The stretch of a short form; null for what is none, or lies elsewhere. */
export function readStretch(n, text, start) {
  if (text === "all") return wholeStretch(n);
  const found = STRETCH.exec(text ?? "");
  if (!found) return null;
  const [first, last] = [Number(found[1]) - start, Number(found[2]) - start];
  if (first > last || last < 0 || first >= n) return null;
  return betweenTokens(n, Math.max(0, first), Math.min(n - 1, last));
}
