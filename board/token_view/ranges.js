// The choices of a colour range and their short form: "q", "full", "log", "fixed:-1:1", "hold:0:2.5". Pure.

/** Kinds in the order of the switch, and what the switch calls them. */
export const RANGES = [["q", "quantile range"], ["full", "full range"], ["log", "log range"], ["fixed", "fixed range"], ["hold", "held range"]];

/** A choice: its kind and, where the kind has them, its two ends; anything that is none becomes the quantile range. */
export function rangeOf(kind, ends = null) {
  const ended = kind === "fixed" || kind === "hold";
  if (!RANGES.some(([known]) => known === kind) || (ended && !usable(ends))) return { kind: "q", ends: null };
  return { kind, ends: ended ? ends.map((end) => Number(end.toPrecision(6))) : null };
}

/** The choice of a short form. */
export function readRange(text) {
  const [kind, low, high] = String(text).split(":");
  return rangeOf(kind, low === undefined || high === undefined ? null : [Number(low), Number(high)]);
}

/** The short form of a choice. */
export function rangeName({ kind, ends }) {
  return ends === null ? kind : `${kind}:${ends[0]}:${ends[1]}`;
}

function usable(ends) {
  return ends !== null && ends.every(Number.isFinite) && ends[0] <= ends[1];
}
