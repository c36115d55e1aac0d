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
  /** Whether each curve is of another run: their names and values stand below the plot. */
  runs: boolean;
  /** What a number on the axis counts: "step", or what is laid over each other by. */
  axis: string;
  curves: Curve[];
  healthy: Healthy | null;
  departure: Departure | null;
}

/** What stands around a panel. */
export interface Texts {
  /** What of the numbers cannot be drawn. */
  note: string;
  /** What it is and its text: the whole name, the formula and more, shown on demand. */
  help: [string, string][];
  /** What it means, in a line or two. */
  gloss: string;
  /** Sentences below the plot. */
  said: string[];
  /** What leads to the page that shows more; empty without one. */
  look: string;
}

/** A panel as it is drawn on a page. */
export interface Card extends Panel {
  texts: Texts;
  /** Whether zero is on the axis in any case. */
  fromZero: boolean;
  /** Columns and metrics whose curves these are. */
  shows: string[];
}

/** Something that begins at a step, in the curves of what it names. */
export interface CurveMark {
  step: number;
  text: string;
  severity: "error" | "warning" | "note" | "unlike";
  names: string[];
}

/** Two steps, the first below the second. */
export type Range = [number, number];

/** Where an array lies among the numbers: its first place and its length. */
export type Slice = [number, number];

type Arrays = "steps" | "values" | "low" | "high" | "raw" | "count";
export type SentCurve = Omit<Curve, Arrays> & { steps: Slice; values: Slice } & Partial<Record<Arrays, Slice>>;
export type SentCard = Omit<Card, "curves" | "axis"> & { curves: SentCurve[] };

/** What the server sends once. */
export interface Meta {
  /** Another one for other cards or numbers. */
  stamp: string;
  cards: SentCard[];
  /** The first and the last step of the page. */
  span: Range;
  /** Pixels of a plot. */
  height: number;
  /** No more of them beside each other. */
  columns: number;
  /** Whether fewer columns are taken where that leaves less of the last row empty. */
  even: boolean;
  /** Whether panels can be pinned. */
  pins: boolean;
  axis: {
    word: string;
    /** Whether all pages can be kept to a stretch of it. */
    keeps: boolean;
  };
}

export interface Sent {
  meta: Meta;
  numbers: { getChildAt(i: number): { toArray(): Float64Array } };
}

/** What the server sends with every choice. */
export interface Choice {
  /** Where the chosen step stands on the axis. */
  step: number;
  /** What it is called there. */
  label: string;
  zoom: Range | null;
  /** Keys of the panels that are pinned. */
  pinned: string[];
  marks: CurveMark[];
}

/** What all curves of a page share; each change is told to all who listen. */
export interface PageState {
  choice: Choice | null;
  /** The steps in view, null for all. */
  zoom: Range | null;
  /** What the reader zoomed to and the server has not yet repeated, oldest first. */
  asked: (Range | null)[];
  /** The step under the crosshair. */
  at: number | null;
  listeners: Map<object, (what: "choice" | "zoom" | "at" | "margin") => void>;
  /** Pixels that the names at the ends of lines need, by who draws them. */
  margins: Map<object, number>;
}

/** What the places and values of a panel's plot are, once it is drawn. */
export interface Frame {
  width: number;
  height: number;
  across(step: number): number;
  down(value: number): number;
  range: Range;
}

/** What the reader does with a plot. */
export interface Acts {
  point(step: number | null): void;
  go(step: number): void;
  zoom(range: Range | null): void;
  keep(): void;
  pin(key: string): void;
  look(key: string): void;
}

/** A line as it is drawn: the places of its points that are drawn, its color, and what it is drawn with. */
export interface Stroke {
  color: string;
  width: number;
  dash: number[];
  column: (number | null | undefined)[];
  /** Places of points that stand alone. */
  lone: number[];
}

/** Colours and type of the page. */
export interface Look {
  ink: string;
  soft: string;
  page: string;
  font: string;
}
