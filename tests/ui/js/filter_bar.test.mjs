// What is proposed while a condition is written.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST_PROPOSALS, proposed } from "../../../board/ui/components/filter_bar/proposals.js";

const COLUMNS = [
  { name: "response_length", kind: "number", meaning: "tokens", values: [] },
  { name: "reward", kind: "number", meaning: "", values: [] },
  { name: "reward_gap", kind: "number", meaning: "", values: [] },
  { name: "data_source", kind: "text", meaning: "", values: ["'math'", "'it''s'"] },
  { name: '"group"', kind: "number", meaning: "", values: [] },
  { name: '"a ""b"""', kind: "text", meaning: "", values: ["'x'"] },
];

const CASES = {
  "nothing is written": ["", 0, []],
  "the beginning of a name": ["rew", 0, ["reward", "reward_gap"]],
  "a later part of a name": ["gap", 0, ["reward_gap"]],
  "in another case": ["REW", 0, ["reward", "reward_gap"]],
  "behind other words": ["reward > 1 AND resp", 15, ["response_length"]],
  "a quoted name": ['"gro', 0, ['"group"']],
  "the whole name": ["reward_gap", 0, []],
  "in a text": ["response LIKE 'rew", 18, []],
  "behind a text": ["response LIKE 'x' AND gap", 22, ["reward_gap"]],
  "a value": ["data_source = ", 14, ["'math'", "'it''s'"]],
  "the beginning of a value": ["data_source = 'ma", 14, ["'math'"]],
  "one of several values": ["data_source IN ('math', ", 24, ["'math'", "'it''s'"]],
  "a value of a quoted name": ['"a ""b""" = ', 12, ["'x'"]],
  "a value of a number": ["reward = ", 9, []],
};

for (const [name, [before, from, texts]] of Object.entries(CASES)) {
  test(`proposed: ${name}`, () => {
    const found = proposed(before, COLUMNS);
    assert.deepEqual(
      found.proposals.map((one) => one.text),
      texts,
    );
    if (texts.length) assert.equal(found.from, from);
  });
}

test("no more are proposed than can be seen at once", () => {
  const many = Array.from({ length: 50 }, (_, at) => ({ name: `column_${at}`, kind: "number", meaning: "", values: [] }));
  assert.equal(proposed("col", many).proposals.length, MOST_PROPOSALS);
});
