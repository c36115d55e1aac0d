// How many panels stand beside each other. Pure.

const NARROWEST = 330; // pixels of a panel

/** Pixels between panels. */
export const GAP = 28;

/**
 * @param {number} width
 * @param {number} count
 * @param {{ columns: number; even: boolean }} layout `even`: rather one column fewer than a last row that is emptier
 */
export function columnsOf(width, count, { columns, even }) {
  const fitting = Math.max(1, Math.min(columns, Math.floor((width + GAP) / (NARROWEST + GAP))));
  if (!even || fitting < 3 || count < 2) return fitting;
  /** @param {number} tried */
  const empty = (tried) => (tried - (count % tried)) % tried;
  return empty(fitting - 1) < empty(fitting) ? fitting - 1 : fitting;
}
