import assert from "node:assert/strict";
import { test } from "node:test";
import { branchesOf, depthsOf, openAtFirst, visibleRows } from "../../../board/ui/components/prefix_tree/tree_rows.js";

// 0 ─ 1 ─ 3
//   │   └ 4
//   └ 2
const ROWS = [-1, 0, 0, 1, 1].map((parent, at) => ({ parent, marked: at === 1 }));

test("branches and depths follow the parents", () => {
  assert.deepEqual(branchesOf(ROWS), [[1, 2], [3, 4], [], [], []]);
  assert.deepEqual(depthsOf(ROWS), [0, 1, 1, 2, 2]);
});

const SEEN = [
  ["nothing is unfolded", [], [0]],
  ["the root", [0], [0, 1, 2]],
  ["a branch within what is folded", [1], [0]],
  ["all", [0, 1], [0, 1, 3, 4, 2]],
];
for (const [name, open, wanted] of SEEN) {
  test(`rows to be seen: ${name}`, () => assert.deepEqual(visibleRows(branchesOf(ROWS), new Set(open)), wanted));
}

test("a marked fork is unfolded with the way to it, however many rows there are", () => {
  const wide = [{ parent: -1, marked: false }, ...Array.from({ length: 90 }, (_, at) => ({ parent: 0, marked: at === 80 }))];
  assert.deepEqual([...openAtFirst(wide, branchesOf(wide))].sort(), [0, 81]);
});

test("without marks forks are unfolded while there is room", () => {
  const deep = Array.from({ length: 200 }, (_, at) => ({ parent: at - 1, marked: false }));
  const open = openAtFirst(deep, branchesOf(deep));
  assert.equal(visibleRows(branchesOf(deep), open).length, 40);
  assert.deepEqual(visibleRows([], new Set()), []);
});
