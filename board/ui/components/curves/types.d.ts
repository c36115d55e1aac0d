// Panels of curves over steps as the modules of this folder hand them to each other, for the type checker alone: nothing of this reaches a browser.

/** One line. All arrays have a number per step, NaN where it is missing; steps rise. */
export interface Curve {
  name: string;
  /** "#rrggbb" */
  color: string;
  /** Lengths of strokes and gaps in pixels; empty for a solid line. */
  dash: number[];
  /** Pixels. */
  width: number;
  steps: Float64Array;
  values: Float64Array;
  /** The lower and the upper edge of the band around the line. */
  low?: Float64Array;
  high?: Float64Array;
  /** The line before smoothing. */
  raw?: Float64Array;
  /** How many numbers each value is the mean of. */
  count?: Float64Array;
}

/** The bounds of the healthy range. */
export interface Healthy {
  low: number | null;
  high: number | null;
}

/** Where the healthy range is first left. */
export interface Departure {
  step: number;
  value: number;
}

export interface Panel {
  key: string;
  title: string;
  unit: string;
  /** What is drawn besides the line: "mean ± std · smoothed 0.6". */
  drawn: string;
  /** Whether the axis of values is logarithmic: what is not above zero has no place on it. */
  log: boolean;
  curves: Curve[];
  healthy: Healthy | null;
  departure: Departure | null;
}
