import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf } from "../../../board/ui/components/curves/csv.js";

const floats = (...values) => Float64Array.from(values);
const panel = (...curves) => ({ key: "k", title: "T", axis: "step", curves });
const curve = (name, steps, values, more = {}) => ({ name, steps: floats(...steps), values: floats(...values), ...more });

/** The cells of RFC 4180, read letter by letter. */
function parsed(text) {
  const rows = [[]];
  let at = 0;
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    } else for (; at < text.length && ![",", "\r"].includes(text[at]); at += 1) cell += text[at];
    rows.at(-1).push(cell);
    if (text[at] === ",") at += 1;
    else if (text.slice(at, at + 2) === "\r\n") {
      at += 2;
      rows.push([]);
    }
  }
  assert.deepEqual(rows.pop(), [], "the last line ends as all do");
  return rows;
}

test("a row per step of any curve, a column per curve and what it has beside", () => {
  const policy = curve("policy", [1, 2, 4], [0.1, Number.NaN, -3], {
    low: floats(0, Number.NaN, -4),
    high: floats(0.2, Number.NaN, -2),
    raw: floats(7, 8, 9),
    count: floats(16, 0, 16),
  });
  const csv = csvOf(panel(policy, curve("tracker", [2, 3], [1e-300, 123456789.12345679])));
  assert.deepEqual(parsed(csv), [
    ["step", "policy", "policy (band from)", "policy (band to)", "policy (before smoothing)", "policy (count)", "tracker"],
    ["1", "0.1", "0", "0.2", "7", "16", ""],
    ["2", "", "", "", "8", "0", "1e-300"],
    ["3", "", "", "", "", "", "123456789.12345679"],
    ["4", "-3", "-4", "-2", "9", "16", ""],
  ]);
});

test("a panel without curves, and a curve without points, are a head alone", () => {
  assert.deepEqual(parsed(csvOf(panel())), [["step"]]);
  assert.deepEqual(parsed(csvOf(panel(curve("a", [], [])))), [["step", "a"]]);
});

test("any name is one cell, and none is a formula", () => {
  const names = [
    'a,b "c"',
    "line\nend",
    "\r\n",
    "=1+1",
    "+1",
    "-1",
    "@x",
    "\t=1",
    "＝1",
    "'",
    "",
    "ok=1",
    '=HYPERLINK("http://x","y")',
  ];
  const [head] = parsed(csvOf(panel(...names.map((name) => curve(name, [1], [1])))));
  assert.deepEqual(
    head.slice(1).map((cell) => cell.replace(/^'(?=[=+\-@\t\r\n＝])/, "")),
    names,
  );
  for (const cell of head) assert.doesNotMatch(cell, /^[=+\-@\t\r\n＝]/);
});

test("every number comes back to the last bit", () => {
  const values = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, 2 ** 53 + 2, -0.5, 1 / 3, Number.POSITIVE_INFINITY];
  const rows = parsed(csvOf(panel(curve("a", values.keys(), values))));
  assert.deepEqual(
    rows.slice(1).map(([, cell]) => Number(cell)),
    values,
  );
});
