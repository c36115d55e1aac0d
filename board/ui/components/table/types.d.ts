// A table as the modules of this folder hand it to each other, for the type checker alone: nothing of this reaches a browser.

import type { Mounted } from "../streamlit";
import type { SizeWatch } from "../token_view/plain_types";

export type Kind = "number" | "bar" | "text" | "trend" | "tags" | "colour" | "tick";

/** A column as it is sent. */
export interface SentColumn {
  name: string;
  label: string;
  help: string;
  /** How numbers are written, as printf does; of other kinds it says nothing. */
  format: string;
  /** Pixels; null where the values say it. */
  width: number | null;
  pinned: boolean;
  right: boolean;
  /** "#rrggbb" of the bar or the line; empty where it is that of texts. */
  color: string;
  /** Whether a click on the head is told rather than done here. */
  sorts: boolean;
  opens: boolean;
  kind: Kind;
  /** The ends of a bar: the least number or 0, the largest or 0. */
  low?: number;
  high?: number;
}

export interface Sorted {
  column: string;
  descending: boolean;
}

export interface Meta {
  name: string;
  key: string;
  columns: SentColumn[];
  rows: number;
  rowHeight: number;
  /** Pixels; null where the table ends where the window does. */
  height: number | null;
  /** What the rows are sorted by as they are sent. */
  sorted: Sorted | null;
  /** Whether a click on a row leads somewhere. */
  leads: boolean;
}

/** A list within a cell: of numbers or of texts. */
export interface Cells extends Iterable<unknown> {
  toArray(): ArrayLike<number>;
}

export interface ArrowVector {
  get(row: number): unknown;
  toArray(): ArrayLike<number>;
}

export interface Sent {
  meta: Meta;
  cells: { getChildAt(at: number): ArrowVector | null };
}

/** A column that can be asked for its cells, by their row as sent. */
export interface Column extends SentColumn {
  /** What the cell shows, as text. */
  text(row: number): string;
  /** The same with all digits, as it is copied; empty where it is missing. */
  whole(row: number): string;
  /** What it is sorted by; NaN or null where it is missing. */
  rank(row: number): number | string | null;
  /** Numbers of a line. */
  line(row: number): ArrayLike<number>;
  /** Texts of a list. */
  tags(row: number): string[];
}

/** How the rows are put in order here; without a column as they were sent. */
export interface Order {
  column: number | null;
  descending: boolean;
}

/** A row of the page, and its cells. */
export interface Line {
  root: HTMLElement;
  cells: HTMLElement[];
}

/** What all tables of a page share with those who say which row is chosen. */
export interface Shared {
  chosen: Map<string, number | null>;
  /** Pixels that the reader dragged columns to, by the names of table and column. */
  widths: Map<string, number>;
  listeners: Set<(key: string) => void>;
}

export interface Parts {
  root: HTMLElement;
  scroller: HTMLElement;
  head: HTMLElement;
  body: HTMLElement;
  lines: HTMLElement;
  empty: HTMLElement;
  find: HTMLInputElement;
  found: HTMLElement;
  tools: HTMLElement;
}

export interface State {
  parts: Parts;
  meta: Meta;
  columns: Column[];
  widths: number[];
  /** Widths at which nothing is cut. */
  whole: number[];
  by: Order;
  /** What the rows are searched for. */
  query: string;
  /** The rows that are shown, by their number as sent. */
  order: Uint32Array;
  /** Texts of all rows, made when they are searched first. */
  texts: string[] | null;
  /** The place of the keyboard: a place in `order`, -1 for the head; and a column. */
  at: number;
  cell: number;
  chosen: number | null;
  /** The place in `order` of the first line. */
  first: number;
  lines: Line[];
  /** Whether all rows are drawn, for paper. */
  printed: boolean;
  size: SizeWatch;
  trigger: Mounted<Sent>["setTriggerValue"];
  stop: () => void;
}
