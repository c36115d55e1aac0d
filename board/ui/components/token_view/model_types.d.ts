// The token view's tokens, how they are spelled, and its metrics with their colours, for the type checker alone: nothing of this reaches a browser.

import type { Description, Meta, ScaleKind } from "./payload_types";
import type { Ends, Rgb } from "./plain_types";

export interface Texts {
  n: number;
  at(i: number): string;
  endsLine(i: number): boolean;
  startsWord(i: number): boolean;
  mayExtend(i: number): boolean;
  anyOdd: boolean;
  hasByte(byte: number): boolean;
  lines(first: number, stop: number, perLine: number): number;
}
export type Codec = "byte-level" | "sentencepiece" | "plain";
export interface TextUnit {
  text: string;
  glyph?: undefined;
  part?: undefined;
  parts?: undefined;
  bad?: undefined;
}
export interface GlyphUnit {
  text?: undefined;
  glyph: string;
  part: number;
  parts: number;
  bad?: undefined;
}
export interface BadUnit {
  text?: undefined;
  glyph?: undefined;
  part?: undefined;
  parts?: undefined;
  bad: number;
}
export type Unit = TextUnit | GlyphUnit | BadUnit;
export interface Mark {
  text?: undefined;
  mark: string;
  raw: string;
  badge: boolean;
}
export interface PlainText {
  text: string;
  mark?: undefined;
}
export type Piece = PlainText | Mark;
/** All texts as one, and where in it each token starts. */
export interface JoinedTexts {
  text: string;
  starts: Uint32Array;
}
/** First and last token. */
export type Match = [number, number];
export interface Alternative {
  token: string;
  logprob: number;
  probability: number;
  sampled: boolean;
}
export interface Alternatives {
  at(i: number): { listed: number; sampled: number; likeliest: Alternative[] };
}
export interface Segment {
  id: number;
  first: number;
  stop: number;
  depth: number;
  label: string;
}
export interface Folding {
  segments: Segment[];
  folds(): Segment[];
  hiding(i: number): Segment | null;
  startingAt(i: number): Segment[];
  around(i: number): Segment | null;
  past(i: number, direction: number): number;
  toggle(segment: Segment): void;
  toggleAll(): void;
  open(i: number): void;
}

export interface ColorRange {
  kind: string;
  ends: Ends | null;
}
export interface Scale {
  scale: ScaleKind;
  loud: "high" | "low";
  log: boolean;
  lo: number;
  hi: number;
  min: number;
  max: number;
  /** How many numbers shape it. */
  finite: number;
}
export interface Rank {
  rank: number;
  of: number;
}
export interface Ranks {
  ready: boolean;
  prepare(): void;
  of(i: number): Rank | null;
}
/** A metric as it colours the text: of each token, or its mean over the token's unit. */
export interface ShownMetric extends Description {
  values: Float32Array;
  side: Float32Array | null;
  toned: Float32Array;
  log: boolean;
  lo: number;
  hi: number;
  min: number;
  max: number;
  finite: number;
  places: Float32Array;
  placeAt(i: number): number;
  cells: Uint8Array;
  loudness: Float32Array;
  extremes: number[];
}
/** A metric of the tokens themselves. */
export interface Metric extends ShownMetric {
  ends: Scale;
  kind: string;
  colorRange: ColorRange | undefined;
  rescale(colorRange: ColorRange | undefined): void;
  ranking: Ranks;
}
export interface MeanOfUnits extends ShownMetric {
  follow(metric: Metric): void;
}
export interface Palette {
  dark: boolean;
  sequential(at: number): Rgb;
  negative(at: number): Rgb;
  positive(at: number): Rgb;
}
export interface Model extends Omit<Meta, "metrics"> {
  texts: Texts;
  token(i: number): string;
  id(i: number): number | null;
  codec: Codec;
  /** Whether tokens are drawn by their names. */
  raw: boolean;
  /** Whether every space is marked. */
  spaces: boolean;
  /** Whether the ranks of its metrics are being worked out. */
  ranked: boolean;
  bytes(i: number): Uint8Array;
  units(i: number): Unit[];
  drawn(i: number): string;
  counts: Uint8Array;
  metrics: Metric[];
  alternatives: Alternatives | null;
  folding: Folding;
  tops: Map<number, string>;
  granularities: Map<string, { starts: number[]; metrics: Map<Metric, MeanOfUnits> }>;
}
