// What a timeline is made of, for the type checker alone.

import type { Places, Scale } from "./layout.js";

export interface Meta {
  /** Of each visit, as it is written. */
  steps: string[];
  /** Rollouts of each visit. */
  counts: number[];
  words: { height: string; color: string; size: string; best: string };
  line: string;
}

/** Of each visit and of each point, as the server sends it. */
export interface Sent {
  meta: Meta;
  step: Float64Array;
  mean: Float64Array;
  best: Float64Array;
  visit: Int32Array;
  key: Float64Array;
  height: Float64Array;
  color: Float64Array;
  size: Float64Array;
}

/** Where it all lies, in pixels. */
export interface Drawn {
  width: number;
  height: number;
  spanX: [number, number];
  spanY: [number, number];
  scaleX: Scale;
  scaleY: Scale;
  visitX: Float64Array;
  places: Places;
}

export interface Theme {
  background: number[];
  text: string;
  quiet: string;
  font: string;
}
