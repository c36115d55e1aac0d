import assert from "node:assert/strict";
import { test } from "node:test";
import { joinedTexts } from "../../../board/ui/components/token_view/search.js";
import { segmentStarts, sentenceStarts, spread, unitMeans, wordStarts } from "../../../board/ui/components/token_view/units.js";

const split = (tokens, granularity) => {
  const all = joinedTexts(tokens.length, (i) => tokens[i]);
  const starts = granularity === "word" ? wordStarts(all) : sentenceStarts(all);
  return starts.map((first, u) => tokens.slice(first, starts[u + 1]).join("|"));
};

test("words are put together from their tokens; numbers, apostrophes and hyphens hold", () => {
  const tokens = ["The", " cat", "egory", " is", " 3", ".", "14", ",", " don", "'t", " well", "-", "known", ".\n", "\n", "Next"];
  assert.deepEqual(split(tokens, "word"), [
    "The",
    " cat|egory",
    " is",
    " 3|.|14",
    ",",
    " don|'t",
    " well|-|known",
    ".\n|\n",
    "Next",
  ]);
});

test("scripts without spaces have a word per letter, signs are words of their own", () => {
  assert.deepEqual(split(["今日", "は", "、", "x", "=", "1"], "word"), ["今日", "は", "、", "x", "=", "1"]);
});

test("sentences end at . ! ? before space, at 。, at a line end; not in a number or before a small letter", () => {
  const tokens = [
    "Pi",
    " is",
    " 3",
    ".",
    "14",
    ".",
    " So",
    " e",
    ".",
    "g",
    ".",
    " this",
    "!",
    "\n",
    "今日",
    "。",
    "は",
    "い",
    "。",
    "End",
  ];
  assert.deepEqual(split(tokens, "sentence"), ["Pi| is| 3|.|14|.", " So| e|.|g|.| this|!|\n", "今日|。", "は|い|。", "End"]);
});

test("units tile the response whatever is in it", () => {
  for (const tokens of [[], [""], [" ", "\n", "a"], ["\n"], ["a", "", "b"], ["。", "。"]]) {
    for (const granularity of ["word", "sentence"]) assert.equal(split(tokens, granularity).join("|"), tokens.join("|"));
  }
});

test("segments end where any of them ends", () => {
  assert.deepEqual(
    segmentStarts(
      [
        { first: 0, stop: 7 },
        { first: 2, stop: 5 },
        { first: 7, stop: 9 },
      ],
      9,
    ),
    [0, 2, 5, 7],
  );
  assert.deepEqual(segmentStarts([], 3), [0]);
});

test("a unit's mean is that of its tokens that count and are finite", () => {
  const { means, counts } = unitMeans(
    Float32Array.of(1, 3, NaN, 5, 100, NaN, 9),
    Uint8Array.of(1, 1, 1, 1, 0, 1, 0),
    [0, 2, 5, 6],
  );
  assert.deepEqual([...means], [2, 5, NaN, NaN]);
  assert.deepEqual([...counts], [1, 1, 1, 0]);
  assert.deepEqual([...spread(means, [0, 2, 5, 6], 7)], [2, 2, 5, 5, 5, NaN, NaN]);
});
