import assert from "node:assert/strict";
import { test } from "node:test";
import { meetingPlace, offer, settle } from "../../../board/ui/components/token_view/echo_filter.js";

const choice = (metric, pinned = null) => ({ metric, pinned });

test("a choice that comes before its view waits, one that comes after is told", () => {
  const world = {};
  const heard = [];
  offer(meetingPlace("tokens", world), choice("kl"));
  const meeting = meetingPlace("tokens", world);
  assert.deepEqual(meeting.choice, choice("kl"));
  meeting.listener = (told) => heard.push(told.metric);
  offer(meetingPlace("tokens", world), choice("value"));
  offer(meetingPlace("other", world), choice("entropy"));
  assert.deepEqual(heard, ["value"]);
});

const CASES = [
  ["news is shown", [], choice("kl"), [], true],
  ["the echo of the last choice ends the waiting", [choice("kl")], choice("kl"), [], true],
  [
    "the echo of a choice the reader has left is not shown",
    [choice("kl"), choice("value")],
    choice("kl"),
    [choice("value")],
    false,
  ],
  ["an echo answers those before it too", [choice("kl"), choice("value")], choice("value"), [], true],
  ["news overrides what waits", [choice("kl")], choice("kl", 7), [], true],
];

for (const [name, pending, incoming, rest, apply] of CASES) {
  test(name, () => assert.deepEqual(settle(pending, incoming), { pending: rest, apply }));
}

test("a choice of range is part of the echo; a server that says nothing of it agrees", () => {
  const pending = [
    { metric: "kl", pinned: 1, scale: "q" },
    { metric: "kl", pinned: 1, scale: "log" },
  ];
  assert.deepEqual(settle(pending, { metric: "kl", pinned: 1, scale: "log" }), { pending: [], apply: true });
  assert.equal(settle(pending, { metric: "kl", pinned: 1, scale: null }).pending.length, 1);
});

test("so is the window; a server that says nothing of it agrees", () => {
  const pending = [
    { metric: "kl", pinned: 1, scale: "q", window: "3-9" },
    { metric: "kl", pinned: 1, scale: "q", window: "all" },
  ];
  assert.deepEqual(settle(pending, { metric: "kl", pinned: 1, window: "all" }), { pending: [], apply: true });
  assert.deepEqual(settle(pending, { metric: "kl", pinned: 1, window: "3-9" }), { pending: pending.slice(1), apply: false });
  assert.equal(settle(pending, { metric: "kl", pinned: 1, window: null }).pending.length, 1);
});

test("so is the granularity", () => {
  const pending = [
    { metric: "kl", pinned: 1, scale: "q", granularity: "word" },
    { metric: "kl", pinned: 1, scale: "q", granularity: "token" },
  ];
  assert.deepEqual(settle(pending, { metric: "kl", pinned: 1, scale: "q", granularity: "word" }), {
    pending: pending.slice(1),
    apply: false,
  });
  assert.equal(settle(pending, { metric: "kl", pinned: 1, scale: "q", granularity: null }).pending.length, 1);
});

test("what the server says twice is no news, but may be an answer", () => {
  const heard = [];
  const meeting = meetingPlace("tokens", {});
  meeting.listener = (_, repeated) => heard.push(repeated);
  offer(meeting, { metric: "kl", pinned: 1 });
  offer(meeting, { metric: "kl", pinned: 1 });
  offer(meeting, { metric: "kl", pinned: 2 });
  assert.deepEqual(heard, [false, true, false]);
  const pending = [{ metric: "kl", pinned: 3 }];
  assert.deepEqual(settle(pending, { metric: "kl", pinned: 1 }, true), { pending, apply: false });
  assert.deepEqual(settle(pending, { metric: "kl", pinned: 3 }, true), { pending: [], apply: false });
});

test("the other pins are part of the echo", () => {
  const pending = [
    { metric: "kl", pinned: 1, others: [] },
    { metric: "kl", pinned: 1, others: [5] },
  ];
  assert.deepEqual(settle(pending, { metric: "kl", pinned: 1, others: [] }), { pending: pending.slice(1), apply: false });
  assert.deepEqual(settle(pending, { metric: "kl", pinned: 1, others: [5] }), { pending: [], apply: true });
  assert.equal(settle(pending, { metric: "kl", pinned: 1, others: [6] }).apply, true);
});
