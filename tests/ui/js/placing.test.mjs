import assert from "node:assert/strict";
import { test } from "node:test";
import { hangAt, overlaps } from "../../../board/ui/components/token_view/placing.js";

const WINDOW = { left: 0, top: 0, right: 1000, bottom: 800 };
const box = (left, top, width, height = 20) => ({ left, top, right: left + width, bottom: top + height });
const card = (width, height) => ({ width, height });
const at = (size, { left, top }) => box(left, top, size.width, size.height);

/** Lines of text from edge to edge, and a token in the middle of line `n`. */
const page = (n, left = 500) => {
  const lines = Array.from({ length: 12 }, (_, i) => box(0, 200 + 26 * i, 1000));
  const token = box(left, 200 + 26 * n, 40);
  return { token, lines, keep: [token, box(left, token.top, 1000 - left), ...(lines[n + 1] ? [lines[n + 1]] : [])] };
};

const CASES = [
  [
    "short lines leave room behind them",
    card(300, 260),
    { token: box(40, 300, 30), keep: [box(40, 300, 200), box(0, 326, 260)], lines: [box(0, 300, 240), box(0, 326, 260)] },
    { left: 268, top: 300 },
  ],
  [
    "behind them, but not over what is drawn beneath",
    card(300, 200),
    {
      token: box(40, 400, 30),
      keep: [box(40, 400, 200)],
      lines: [box(0, 300, 400), box(0, 400, 240)],
      spare: [box(0, 450, 1000)],
    },
    { left: 408, top: 242 },
  ],
  ["full lines: above, where it was read", card(300, 180), page(1), { left: 500, top: 38 }],
  ["no room above: below the line that is read next", card(300, 400), page(1), { left: 500, top: 280 }],
  ["at the right edge it stays inside", card(300, 180), page(1, 960), { left: 700, top: 38 }],
  ["above, but for the toolbar: below", card(300, 150), { ...page(1), spare: [box(0, 150, 1000, 40)] }, { left: 500, top: 280 }],
  [
    "nowhere but over the toolbar",
    card(300, 150),
    { ...page(11), lines: [], spare: [box(0, 0, 1000, 480)], keep: [...page(11).keep, box(0, 520, 1000, 280)] },
    { left: 500, top: 328 },
  ],
  ["too large for every side", card(300, 700), page(5), null],
  ["larger than the window", card(1200, 100), page(5), null],
];

for (const [name, size, { token, ...around }, wanted] of CASES)
  test(name, () => assert.deepEqual(hangAt(size, WINDOW, token, around), wanted));

test("whatever is pinned, the card covers none of it, nor its token, nor what is read next", () => {
  let found = 0;
  for (let seed = 1; seed < 400; seed += 1) {
    const random = (n) => ((seed * 7919 * (n + 3)) % 997) / 997;
    const scene = page(Math.floor(random(1) * 12), Math.floor(random(2) * 960));
    const pins = [3, 4, 5].map((n) => box(random(n) * 900, 200 + 26 * Math.floor(random(n + 9) * 12), 60));
    const keep = [...scene.keep, ...pins, box(0, 560, 1000, 120)];
    const size = card(200 + random(6) * 400, 60 + random(7) * 200);
    const place = hangAt(size, WINDOW, scene.token, { ...scene, keep });
    if (place === null) continue;
    found += 1;
    const covered = at(size, place);
    assert.ok(!keep.some((one) => overlaps(one, covered)), `${seed}`);
    assert.ok(covered.left >= 0 && covered.top >= 0 && covered.right <= 1000 && covered.bottom <= 800);
  }
  assert.ok(found > 200, `${found}`);
});
