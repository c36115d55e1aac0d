// A component is torn down when it leaves the page, and only then, whichever draw Streamlit calls back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";

import { whenGone } from "../../../board/ui/components/leaving.js";

/** @param {(draw: (name: string) => () => void, parent: { isConnected: boolean }) => void} act */
async function left(act) {
  const parent = { isConnected: true };
  const gone = [];
  act((name) => whenGone(parent, () => gone.push(name)), parent);
  await after(5);
  return gone;
}

const CASES = {
  "drawn once, then gone": {
    act: (draw, parent) => {
      draw("a")();
      parent.isConnected = false;
    },
    expected: ["a"],
  },
  "drawn twice, told of the last": {
    act: (draw, parent) => {
      draw("a");
      draw("b")();
      parent.isConnected = false;
    },
    expected: ["b"],
  },
  "the first overtaken before the second is drawn": {
    act: (draw) => {
      draw("a")();
      draw("b");
    },
    expected: [],
  },
  "the first overtaken after the second is drawn": {
    act: (draw) => {
      const a = draw("a");
      draw("b");
      a();
    },
    expected: [],
  },
  "still there": {
    act: (draw) => {
      draw("a")();
    },
    expected: [],
  },
  "told twice": {
    act: (draw, parent) => {
      const a = draw("a");
      a();
      a();
      parent.isConnected = false;
    },
    expected: ["a"],
  },
};

for (const [name, { act, expected }] of Object.entries(CASES)) {
  test(name, async () => assert.deepEqual(await left(act), expected));
}
