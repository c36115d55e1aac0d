// What travels to the scatter and what it is made of, for the type checker alone: nothing of this reaches a browser.

export interface AxisMeta {
  label: string;
  /** At the place 0 and 1; on a logarithmic axis the log10. */
  low: number;
  high: number;
  log: boolean;
}

export interface ColorMeta {
  /** Empty where the colours are told without a legend. */
  label: string;
  /** "#rrggbb" from the low end to the high one; without them those that a number has everywhere. */
  stops?: string[];
  low: number;
  high: number;
}

export interface Meta {
  stamp: string;
  kind: "points" | "density";
  x: AxisMeta;
  y: AxisMeta;
  color: ColorMeta | null;
  /** Of a picture of density; 0 for points. */
  columns: number;
  rows: number;
  /** In one sentence, for who does not see it. */
  said: string;
  /** What a dot stands for: "rollout". */
  dot: string;
  /** Of the first points; shown as text. */
  labels: string[];
  /** Where on the two axes, 0 to 1, the line of equal numbers begins and ends. */
  diagonal: [Place, Place] | null;
  /** Whether boxes and lassos can be drawn. */
  areas: boolean;
  inks: { point: string; without: string; chosen: string };
}

/** One column of an Arrow table. */
export interface Numbers {
  getChildAt(at: number): { toArray(): Float32Array } | null;
  numRows: number;
}

export interface Sent {
  meta: Meta;
  numbers: Numbers;
  /** Of the plot, in pixels. */
  height?: number;
}

/** What is drawn, a place and a number each: rollouts, those at one place, or the cells that hold any. */
export interface Dots {
  x: Float32Array;
  y: Float32Array;
  /** The third number, NaN where there is none. */
  color: Float32Array;
  /** How many rollouts each stands for; null where each is one. */
  counts: Float32Array | null;
  /** Which points each stands for; null where each is the point of its number, or a cell. */
  stacks: number[][] | null;
  size: number;
}

export interface Plane {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Look {
  text: string;
  soft: string;
  page: string;
  font: string;
  dark: boolean;
}

export type Place = [number, number];
export type Mode = "box" | "lasso";

export interface Drag {
  mode: Mode;
  /** Places that the pointer came through; of a box the first and the last count. */
  path: Place[];
}

export interface Chosen {
  place: Place | null;
}

export interface Shared {
  chosen: Place | null;
  listeners: Set<() => void>;
}
