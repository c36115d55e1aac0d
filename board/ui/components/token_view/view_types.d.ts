// Parts of the token view, and what each tells, for the type checker alone: nothing of this reaches a browser.

import type { ColorRange, Match, Metric, Model, Palette, Scale, Segment, ShownMetric } from "./model_types";
import type { Choice, ChoiceListener, Meeting, SharedEnds } from "./payload_types";
import type { Deferred, Ends, Rgb, SizeWatch } from "./plain_types";
import type { skeleton } from "./skeleton.js";

/** Tokens that chart and heatmap show, fractions allowed. */
export interface ZoomRange {
  from: number;
  count: number;
}
export interface Pointed {
  hovered: number | null;
  pinned: number | null;
}
export type TokenSpan = HTMLSpanElement & { index: number };
export type SegmentSpan = HTMLSpanElement & { segment: Segment };
export type Parts = ReturnType<typeof skeleton>;
export interface BrushAxis {
  n(): number;
  from(): number;
  pitch(): number;
  at(event: MouseEvent): number | null;
  pinned(): number | null;
}
export interface BrushEvents {
  hover(index: number | null): void;
  pin(index: number, add?: boolean): void;
  brush(zoomRange: ZoomRange): void;
  zoom(factor: number, token: number): void;
}
export interface HeatEvents extends BrushEvents {
  metric(name: string): void;
  move(zoomRange: ZoomRange, scrolled?: boolean): void;
}
export interface PlotsEvents {
  hover(index: number | null): void;
  pin(index: number, add?: boolean): void;
  metric(name: string): void;
  text(index: number): void;
  moved(): void;
}
export interface Chart {
  plot: HTMLElement;
  choose(model: Model, metric: Metric | null): void;
  zoomTo(zoomRange: ZoomRange): void;
  view(inView: Match | null): void;
  mark(hovered: number | null, pinned: number | null): void;
  paint(ink: Rgb, faint: Rgb): void;
  close(): void;
}
export interface Heat {
  scroller: HTMLElement;
  pinned(): number | null;
  show(model: Model, zoomRange: ZoomRange): void;
  paint(colors: Palette, ink: Rgb, faint: Rgb): void;
  rescaled(): void;
  choose(name: string | undefined): void;
  mark(hovered: number | null, pinned: number | null): void;
  zoomTo(zoomRange: ZoomRange, scrolled?: boolean): void;
  close(): void;
}
/** SHADES colours as numbers for pixels, and an ink on each. */
export interface Shades {
  pixels: Uint32Array;
  inks: string[];
}
export interface HeatRow {
  metric: Metric;
  shades: Shades | null;
  columns: Int32Array | null;
  drawn: string;
  ends: Scale | null;
  endsAt: string;
}
/** The model and the colours come before anything is drawn. */
export interface HeatState {
  model: Model;
  colors: Palette | null;
  ink: Rgb;
  faint: Rgb;
  rows: HeatRow[];
  zoomRange: ZoomRange;
  width: number;
  /** How wide its box was when it was last laid out. */
  laidIn: number;
  height: number;
  scale: number;
  row: number;
  head: number;
  room: number;
  put: number;
  pointed: Pointed | null;
}
export interface HeatParts {
  canvas: HTMLCanvasElement;
  hoverLine: HTMLElement;
  pinLine: HTMLElement;
  band: HTMLElement;
  pane: HTMLElement;
  track: HTMLElement;
  scroller: HTMLElement;
  readout: HTMLElement;
  note: HTMLElement;
  labels: HTMLElement;
}
export type KeyActions = Record<string, (() => unknown) | undefined>;
export interface Plots {
  focusable: HTMLElement[];
  show(model: Model): void;
  choose(metric: Metric | null): void;
  paint(colors: Palette, ink: Rgb, faint: Rgb): void;
  rescaled(): void;
  mark(hovered: number | null, pinned: number | null): void;
  inView(inView: Match | null): void;
  reveal(index: number): void;
  tell(): string;
  open(text: string | null | undefined): number | null;
  keys(index: number | null): KeyActions;
  close(): void;
}
export type Pen = (glyph: string) => number;
export interface TextEvents {
  built(): void;
  moved(): void;
}
export interface TextState {
  box: HTMLElement;
  on: TextEvents;
  model: Model;
  metric: ShownMetric | null;
  starts: number[];
  blocks: HTMLElement[];
  heights: number[];
  folds: Map<number, Segment>;
  built: Map<number, TokenSpan[]>;
  /** Whether the chunks that are built are joined for the size of the box. */
  fitted: boolean;
  size: SizeWatch;
  pen: Pen;
  buildSoon: Deferred;
}
export interface TextPane {
  show(model: Model, metric: ShownMetric | null): void;
  paint(metric: ShownMetric | null): void;
  /** The span of token `i` if it is built. */
  span(i: number | null | undefined): TokenSpan | undefined;
  /** The span of token `i`, built if need be. */
  reach(i: number): Element;
  reveal(i: number, top?: boolean): void;
  inView(): Match | null;
  hides(i: number): boolean;
  each(visit: (span: TokenSpan) => void): void;
  fold(i: number): number;
  foldAll(): void;
  close(): void;
}
export interface MinimapState {
  model: Model | null;
  metric: ShownMetric | null;
  colors: Palette | null;
  ink: Rgb;
  matchInk: Rgb | null;
  matches: Uint8Array | null;
  inView: Match | null;
  pinned: number | null;
}
export interface Minimap {
  show(changes: Partial<MinimapState>): void;
  follow(changes: Partial<MinimapState>): void;
  close(): void;
}
export interface ColorRangeControl {
  show(range: ColorRange, hidden: boolean, words: string, compared: boolean): void;
}
export interface SearchBarEvents {
  found(matches: Uint8Array | null): void;
  go(index: number): void;
  raw(raw: boolean): void;
  leave(): void;
  here(): number;
}
export interface SearchBar {
  show(model: Model): void;
  search(): void;
  goto(): void;
  help(shown?: boolean): void;
}
export interface SwitchEvents {
  granularity(name: string): void;
  foldAll(): void;
  spaces(on: boolean): void;
}
export interface Switches {
  show(model: Model): boolean;
  mark(name: string): void;
}
export interface CompareEvents {
  go(index: number): void;
  leave(): void;
  clear(): void;
  close(position: number): void;
}
export interface Compare {
  show(model: Model, pins: number[], metric: ShownMetric | null, changed?: boolean): void;
}
export interface TableEvents {
  go(index: number): void;
  leave(): void;
  here(): number;
}
export interface TokenTable {
  button: HTMLElement;
  show(model: Model): void;
  toggle(): void;
}
/** What keys do to the view. */
export interface KeyboardActions {
  focusOn(view: View, index: number, withTooltip: boolean): void;
  choose(view: View, name: string | null, byKey?: boolean): void;
  togglePin(view: View, index: number, bringIntoSight: boolean, add?: boolean): void;
  extreme(view: View, here: number | null, direction: number, withTooltip: boolean): void;
  unpin(): void;
}

/** What the range of the colours is chosen from and for. */
export interface Ranged {
  model: Model;
  metric: Metric | null;
  colorRange: ColorRange;
  held: Record<string, Ends | null>;
  sharedEnds: SharedEnds | null;
}
export interface View extends Ranged {
  parts: Parts;
  /** The colours of the theme that it is drawn in, as one text. */
  theme: string;
  matches: Uint8Array | null;
  granularity: string;
  /** Positions in the whole response, the last one being `pinned`. */
  pins: number[];
  pinned: number | null;
  hovered: number | null;
  focused: number | null;
  /** Choices that were reported and not heard of yet, oldest first. */
  pending: Choice[];
  meeting: Meeting | null;
  listener: ChoiceListener | null;
  markedHover: TokenSpan | undefined;
  markedFocus: TokenSpan | undefined;
  flagged: TokenSpan[];
  plots: Plots;
  text: TextPane;
  map: Minimap;
  rangeControl: ColorRangeControl;
  searchBar: SearchBar;
  switches: Switches;
  compare: Compare;
  table: TokenTable;
  report(choice: Choice & { stamp: string }): void;
  estimate(name: string): void;
  away(): void;
}
