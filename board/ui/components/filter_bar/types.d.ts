// What travels to the filter bar and back, for the type checker alone: nothing of this reaches a browser.

export interface Chip {
  condition: string;
  on: boolean;
  negated: boolean;
}

/** A column that a condition may name. */
export interface Column {
  /** As SQL writes it: quoted where it has to be. */
  name: string;
  kind: string;
  meaning: string;
  /** What it may be equal to, as SQL writes it, where these are few. */
  values: string[];
}

export interface Filter {
  chips: Chip[];
  count: string;
  /** What became of what was typed last: why it is no condition, and what it was. */
  problem: { reason: string; typed: string } | null;
  columns: Column[];
  recent: string[];
  named: { name: string; filter: string }[];
}

/** Something that can be put where the reader writes. */
export interface Proposal {
  text: string;
  about: string;
}
