import assert from "node:assert/strict";
import { test } from "node:test";
import { choiceOf, MOST_PINS, pinsAfter, pinsOf, samePins } from "../../../board/ui/components/token_view/pins.js";

const full = Array.from({ length: MOST_PINS }, (_, i) => i);
const CASES = [
  ["the first click pins", [], 5, false, [5]],
  ["a click on another token replaces the pin", [5], 7, false, [7]],
  ["a click on the pin unpins it", [5], 5, false, []],
  ["a click on one of several leaves that one", [5, 7], 5, false, [5]],
  ["an added token comes last", [5], 3, true, [5, 3]],
  ["adding a pinned token takes it away", [5, 3, 9], 3, true, [5, 9]],
  ["adding to nothing pins", [], 3, true, [3]],
  ["a token beyond the most is not added", full, 99, true, full],
];
for (const [name, pins, position, add, wanted] of CASES) {
  test(name, () => assert.deepEqual(pinsAfter(pins, position, add), wanted));
}

for (const pins of [[], [4], [4, 0, 9]]) {
  test(`${pins.length} pins survive the way to the server and back`, () => assert.deepEqual(pinsOf(choiceOf(pins)), pins));
}

test("a choice that says nothing of others has one pin", () => assert.deepEqual(pinsOf({ pinned: 3 }), [3]));

test("the order of pins matters", () => {
  assert.ok(samePins([1, 2], [1, 2]));
  assert.ok(!samePins([1, 2], [2, 1]));
  assert.ok(!samePins([1], [1, 2]));
});
