import assert from "node:assert/strict";
import { test } from "node:test";
import { listed, matching } from "../../../board/ui/components/picker/matching.js";

const RUNS = ["sweep/lr 1e-6", "sweep/lr 1e-5", "LR", "other lr", "lr first"];

const TYPED = [
  ["nothing", "", [0, 1, 2, 3, 4]],
  ["one that is an option, whatever its case, before those that begin so", "lr", [2, 4, 0, 1, 3]],
  ["words in any order", "1e-5 sweep", [1]],
  ["spaces around", "  other ", [3]],
  ["what none holds", "zzz", []],
  ["what a regular expression would take for any text", ".*", []],
];

for (const [name, typed, expected] of TYPED)
  test(`what is meant by ${name}`, () => {
    assert.deepEqual(matching(RUNS, typed), expected);
  });

const places = Array.from({ length: 1000 }, (_, at) => at);

test("a long list is listed around the chosen one, and says how many are left out", () => {
  assert.deepEqual(listed(places, 500, 4), { listed: [498, 499, 500, 501], left: 996 });
  assert.deepEqual(listed(places, 999, 4), { listed: [996, 997, 998, 999], left: 996 });
  assert.deepEqual(listed(places, -1, 4), { listed: [0, 1, 2, 3], left: 996 });
  assert.deepEqual(listed([3, 7], 7, 4), { listed: [3, 7], left: 0 });
});
