import assert from "node:assert/strict";
import { test } from "node:test";
import { tableOf } from "../../../board/ui/components/curves/table.js";

const floats = (...values) => Float64Array.from(values);
const curve = (name, steps, values) => ({ name, steps: floats(...steps), values: floats(...values) });

test("a row per step of any curve, and a dash for what is missing", () => {
  const made = tableOf({
    axis: "step",
    curves: [curve("policy", [1, 2, 1000], [0.12345, Number.NaN, -3]), curve("<b>", [2], [1e-7])],
  });
  assert.deepEqual(made, {
    head: ["step", "policy", "<b>"],
    rows: [
      ["1", "0.123", "–"],
      ["2", "–", "1.00e−7"],
      ["1,000", "−3", "–"],
    ],
    note: "",
  });
});

test("many steps are thinned evenly, the first and the last stay, and the note says so", () => {
  for (const [length, most] of [
    [201, 200],
    [12_345, 200],
    [3, 2],
    [100, 100],
  ]) {
    const steps = Array.from({ length }, (_, at) => at * 3);
    const { rows, note } = tableOf({ axis: "step", curves: [curve("a", steps, steps)] }, most);
    const shown = rows.map(([step]) => Number(step.replaceAll(",", "")));
    assert.equal(rows.length, most);
    assert.deepEqual([shown[0], shown.at(-1)], [0, 3 * (length - 1)]);
    const apart = shown.slice(1).map((step, at) => step - shown[at]);
    assert.ok(Math.max(...apart) - Math.min(...apart) <= 3, "steps are as far apart as each other, but for one");
    assert.equal(note !== "", length > most);
    if (note) assert.match(note, new RegExp(`^${most} of ${length.toLocaleString("en")} steps`));
  }
});

test("a panel without curves or points has a head alone", () => {
  assert.deepEqual(tableOf({ axis: "step", curves: [] }), { head: ["step"], rows: [], note: "" });
  assert.deepEqual(tableOf({ axis: "step", curves: [curve("a", [], [])] }), { head: ["step", "a"], rows: [], note: "" });
});
