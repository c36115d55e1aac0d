// What the server sends to the token view, as `payload.py` writes it, and the choice it hears back, for the type checker alone: nothing of this reaches a browser.

import type { Ends } from "./plain_types";

export interface ArrowColumn<Numbers> {
  toArray(): Numbers;
  data: { values: Uint8Array; valueOffsets: ArrayLike<number> }[];
}
export interface ArrowTable<Numbers = Float32Array> {
  numRows: number;
  getChildAt(i: number): ArrowColumn<Numbers>;
}
export type ScaleKind = "sequential" | "diverging";
export interface Description {
  name: string;
  unit: string;
  meaning: string;
  scale: ScaleKind;
  loud: "high" | "low";
  range: Ends | null;
  poles: [string, string];
}
export interface MetricMeta extends Description {
  /** The metric whose sign says on which side of zero this one is coloured. */
  side: string | null;
}
export interface Estimator {
  name: string;
  formula: string;
  reading: string;
  chosen: boolean;
}
/** First token, the one after the last, depth, label. */
export type ListedSegment = [number, number, number, string];
/** Indices of the tokens that hold most of the KL. */
export interface ListedTop {
  five?: number[];
  percent?: number[];
}
export interface Meta {
  key: string;
  stamp: string;
  n: number;
  start: number;
  total: number;
  height: number | null;
  /** Whether it is shown beside another, with which it shares the ends of its colours. */
  compared?: boolean;
  metrics: MetricMeta[];
  odd: Record<string, string>;
  estimators?: Estimator[];
  segments?: ListedSegment[];
  top?: ListedTop | null;
}
export interface Payload {
  meta: Meta;
  tokens: ArrowTable;
  counts: ArrowTable<Uint8Array>;
  values: ArrowTable;
  ids?: ArrowTable<Int32Array>;
  likeliest?: ArrowTable;
  likeliest_of?: ArrowTable<Int32Array>;
}
/** What the reader chose, as it is reported and as it comes back. */
export interface Choice {
  metric: string;
  pinned: number | null;
  others?: number[];
  scale?: string | null;
  granularity?: string | null;
  window?: string | null;
}
export interface SharedEnds {
  scope: string;
  ends: Record<string, Ends>;
  rollouts: number;
  total: number;
  where: string;
}
export interface ServerChoice extends Choice {
  key: string;
  stamp: string;
  ends?: SharedEnds;
}
export type ChoiceListener = (choice: ServerChoice, repeated?: boolean) => void;
/** Where the server's choice waits for its view. */
export interface Meeting {
  choice: ServerChoice | null;
  listener: ChoiceListener | null;
}
