// Which rows of a tree are to be seen: its branches, its depths, what is unfolded. Pure; knows nothing of the page.

/**
 * @typedef {object} Row
 * @property {number} parent
 * @property {string} text
 * @property {string} length
 * @property {string} count
 * @property {string} mean
 * @property {number | null} place
 * @property {string} told
 * @property {boolean} marked
 */

/** So many rows are unfolded from the start where nothing else asks for it. */
const FIRST_ROWS = 40;

/**
 * For each row the rows that branch off it, in their order.
 * @param {Pick<Row, "parent">[]} rows
 * @returns {number[][]}
 */
export function branchesOf(rows) {
  /** @type {number[][]} */
  const branches = rows.map(() => []);
  rows.forEach(({ parent }, at) => {
    if (parent >= 0) branches[parent].push(at);
  });
  return branches;
}

/**
 * How deep each row lies; the root at 0. Parents stand before their branches.
 * @param {Pick<Row, "parent">[]} rows
 * @returns {number[]}
 */
export function depthsOf(rows) {
  /** @type {number[]} */
  const depths = [];
  rows.forEach(({ parent }, at) => {
    depths[at] = parent < 0 ? 0 : depths[parent] + 1;
  });
  return depths;
}

/**
 * What is unfolded before the reader chooses: the marked forks and the way to them, then forks from the root on while there is room.
 * @param {Pick<Row, "parent" | "marked">[]} rows
 * @param {number[][]} branches
 * @returns {Set<number>}
 */
export function openAtFirst(rows, branches) {
  /** @type {Set<number>} */
  const open = new Set();
  rows.forEach(({ marked }, row) => {
    for (let at = marked ? row : -1; at >= 0; at = rows[at].parent) open.add(at);
  });
  let room = FIRST_ROWS - visibleRows(branches, open).length;
  const waiting = rows.length > 0 ? [0] : [];
  for (const at of waiting) {
    if (!open.has(at)) {
      if (branches[at].length > room) continue;
      room -= branches[at].length;
      open.add(at);
    }
    waiting.push(...branches[at]);
  }
  return open;
}

/**
 * The rows that are to be seen, from top to bottom: the root, and the branches of what is unfolded.
 * @param {number[][]} branches
 * @param {ReadonlySet<number>} open
 * @returns {number[]}
 */
export function visibleRows(branches, open) {
  /** @type {number[]} */
  const rows = [];
  const waiting = branches.length > 0 ? [0] : [];
  while (waiting.length > 0) {
    const at = /** @type {number} */ (waiting.pop());
    rows.push(at);
    if (open.has(at)) waiting.push(...[...branches[at]].reverse());
  }
  return rows;
}
