import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf } from "../../../board/ui/components/table/cell_values.js";
import { trendPath } from "../../../board/ui/components/table/cells.js";
import { printer } from "../../../board/ui/components/table/number_format.js";
import { meantBy } from "../../../board/ui/components/table/pressed.js";
import { holding, inOrder, nextOrder, searched } from "../../../board/ui/components/table/row_order.js";
import { setChosenRow, sharedTables } from "../../../board/ui/components/table/shared_tables.js";
import { separatedByCommas, separatedByTabs } from "../../../board/ui/components/table/taken_rows.js";
import { fittingWidth, growing, tracksOf, tracksOnPaper } from "../../../board/ui/components/table/widths.js";

const NAN = Number.NaN;
const PLAIN = {
  label: "",
  help: "",
  format: "%.2f",
  width: null,
  pinned: false,
  right: false,
  color: "",
  sorts: false,
  opens: false,
};
/** Columns as the browser has them, of {name: [kind, values]}. */
const columns = (given, format = "%.2f") => {
  const entries = Object.entries(given);
  const vectors = entries.map(([, [kind, values]]) => ({
    get: (row) => (kind === "trend" && values[row] ? { toArray: () => Float32Array.from(values[row]) } : values[row]),
    toArray: () => Float64Array.from(values),
  }));
  const sent = entries.map(([name, [kind]]) => ({ ...PLAIN, name, label: name, kind, format }));
  return columnsOf({ meta: { columns: sent }, cells: { getChildAt: (at) => vectors[at] } });
};
const order = (given, by, rows = [0, 1, 2, 3]) => [
  ...inOrder(columns(given), { column: 0, descending: by === "descending" }, rows),
];

test("numbers are written as printf does, and what is no number is told", () => {
  const cases = [
    ["%d", 12345, "12345"],
    ["%,d", -1234567, "-1,234,567"],
    ["%,d", 999, "999"],
    ["%.2f", 1.005, "1.00"],
    ["%.2f", -0.001, "0.00"],
    ["%,.1f", 12345.67, "12,345.7"],
    ["%.2e", 12345, "1.23e4"],
    ["%.2e", 0.00012345, "1.23e-4"],
    ["%.3g", 0.00012345, "0.000123"],
    ["%.3g", 0.000012345, "1.23e-5"],
    ["%.3g", 1234567, "1.23e6"],
    ["%.4g", 12.5, "12.5"],
    ["%.4g", 9999.96, "1e4"],
    ["%.4g", 100, "100"],
    ["%.3g", 0, "0"],
    ["%.0f %%", 41.6, "42 %"],
    ["%.2f", NAN, "–"],
    ["%d", Number.NEGATIVE_INFINITY, "-∞"],
    ["%d", Number.POSITIVE_INFINITY, "∞"],
    ["none", 1.5, "1.5"],
  ];
  assert.deepEqual(
    cases.map(([format, value]) => printer(format)(value)),
    cases.map(([, , written]) => written),
  );
});

test("a column sorts either way, equal rows stay as sent, missing ones are last", () => {
  const numbers = { a: ["number", [2, NAN, 1, 2]] };
  assert.deepEqual(order(numbers, "ascending"), [2, 0, 3, 1]);
  assert.deepEqual(order(numbers, "descending"), [0, 3, 2, 1]);
  const texts = { a: ["text", ["step 10", null, "step 9", ""]] };
  assert.deepEqual(order(texts, "ascending"), [2, 0, 1, 3]);
  assert.deepEqual(order(texts, "descending"), [0, 2, 1, 3]);
  assert.deepEqual(
    order({ a: ["number", [Number.POSITIVE_INFINITY, -1, Number.NEGATIVE_INFINITY, 0]] }, "ascending"),
    [2, 1, 3, 0],
  );
  assert.deepEqual(order({ a: ["trend", [[1, 5], [9, NAN], null, [2]]] }, "descending"), [1, 0, 3, 2]);
  assert.deepEqual(order(numbers, "ascending", [3, 2]), [2, 3]);
  assert.deepEqual([...inOrder(columns(numbers), { column: null, descending: false }, [3, 1])], [3, 1]);
});

test("a hundred thousand rows keep the order of equal ones", () => {
  const values = Array.from({ length: 100_000 }, (_, at) => (at * 7919) % 13);
  const rows = inOrder(columns({ a: ["number", values] }), { column: 0, descending: true }, values.keys());
  assert.ok(
    rows.every(
      (row, at) => at === 0 || values[rows[at - 1]] > values[row] || (values[rows[at - 1]] === values[row] && rows[at - 1] < row),
    ),
  );
});

test("a head is sorted by as one wants to see it, then the other way, then as it was sent", () => {
  const both = columns({ a: ["number", []], b: ["text", []] });
  const none = { column: null, descending: false };
  assert.deepEqual(nextOrder(both, none, 0), { column: 0, descending: true });
  assert.deepEqual(nextOrder(both, { column: 0, descending: true }, 0), { column: 0, descending: false });
  assert.deepEqual(nextOrder(both, { column: 0, descending: false }, 0), none);
  assert.deepEqual(nextOrder(both, { column: 0, descending: true }, 1), { column: 1, descending: false });
  assert.deepEqual(nextOrder(both, { column: 1, descending: false }, 1), { column: 1, descending: true });
});

test("a search looks in what is shown, letter for letter but for case", () => {
  const shown = columns({ a: ["number", [1.005, 22]], b: ["text", ["Ünter <b>", null]], c: ["trend", [[22], [1]]] });
  const texts = searched(shown, 2);
  const found = (query) => holding(texts, 2, query);
  assert.deepEqual([found("ÜNTER"), found("<b>"), found("22"), found(".*"), found("")], [[0], [0], [1], [], [0, 1]]);
});

test("what is taken away has all digits, and no cell that a spreadsheet computes", () => {
  const taken = columns({
    'a,"b"': ["number", [1 / 3, NAN]],
    "=b": ["text", ['x,"y"\n', "=1+1"]],
    c: ["tags", [["p", "q"], []]],
    d: ["trend", [[0.1, NAN], null]],
    e: ["colour", ["#ff0000", ""]],
    f: ["text", ["\tz", "-1"]],
  });
  assert.equal(
    separatedByCommas(taken, [1, 0]),
    ['"a,""b""",\'=b,c,d,f', ",'=1+1,,,'-1", '0.3333333333333333,"x,""y""\n","p, q",0.1 ,\'\tz', ""].join("\r\n"),
  );
  assert.equal(separatedByTabs(taken, [0]).split("\n")[1], '0.3333333333333333\tx,"y" \tp, q\t0.1 \t\' z');
});

test("keys move within the rows and the heads above them", () => {
  const place = { at: 5, cell: 1, rows: 100, columns: 3, page: 10, chosen: false };
  const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  const press = (key, at = {}, held = {}) => meantBy({ key, ...none, ...held }, { ...place, ...at });
  const moves = {
    ArrowDown: [6, 1],
    ArrowUp: [4, 1],
    ArrowLeft: [5, 0],
    ArrowRight: [5, 2],
    PageDown: [15, 1],
    PageUp: [0, 1],
    Home: [0, 1],
    End: [99, 1],
  };
  for (const [key, [at, cell]] of Object.entries(moves)) assert.deepEqual(press(key), { act: "move", at, cell }, key);
  assert.equal(press("ArrowUp", { at: 0 }).at, -1);
  assert.equal(press("ArrowUp", { at: -1 }).at, -1);
  assert.equal(press("ArrowDown", { at: 99 }).at, 99);
  assert.equal(press("ArrowDown", { at: -1, rows: 0 }).at, -1);
  assert.deepEqual([press("Enter").act, press(" ").act, press("Enter", { at: -1 }).act], ["choose", "whole", "sort"]);
  assert.equal(press("Enter", { chosen: true }), null);
  assert.equal(press("Enter", { rows: 0, at: 0 }), null);
  assert.deepEqual(press("ArrowLeft", { at: -1 }, { shiftKey: true }), { act: "widen", by: -16 });
  assert.equal(press("f", {}, { ctrlKey: true }).act, "find");
  for (const key of ["j", "]", "f", "Tab"]) assert.equal(press(key), null);
  assert.equal(press("ArrowDown", {}, { altKey: true }), null);
});

test("a line lies between its own ends, with a gap where a number is missing", () => {
  assert.equal(trendPath([0, 1, 0.5], 100, 20), "M0.0 20.0L50.0 0.0L100.0 10.0");
  assert.equal(trendPath([1, NAN, 1], 100, 20), "M0.0 10.0h1M100.0 10.0h1");
  assert.equal(trendPath([], 100, 20), "");
  assert.equal(trendPath([NAN, NAN], 100, 20), "");
});

test("a column is as wide as its longest text or its head, within bounds", () => {
  const measured = (text, bold) => text.length * (bold ? 8 : 7);
  const [few, long, lines] = columns({ a: ["number", [1, 12345]], long: ["text", ["x".repeat(500)]], trend: ["trend", [[1]]] });
  assert.equal(fittingWidth(few, 2, measured), 22 + 7 * "12345.00".length);
  assert.equal(fittingWidth(long, 1, measured), 340);
  assert.equal(fittingWidth(long, 1, measured, 9999), 22 + 3500);
  assert.equal(fittingWidth(lines, 1, measured), 120);
  assert.equal(tracksOf([50, 60], [false, true]), "50px minmax(60px, 1fr)");
  assert.equal(tracksOnPaper([few, long], [90, 340], 1, measured), `minmax(${7 * "1.00".length + 8}px, 90fr) minmax(0px, 340fr)`);
});

test("texts that are cut share the room that is left, else the last one of texts has it", () => {
  const both = columns({ a: ["text", ["x"]], b: ["text", ["y"]], n: ["number", [1]] });
  const free = [false, false, false];
  assert.deepEqual(growing(both, [50, 50, 50], [90, 40, 90], free), [true, false, false]);
  assert.deepEqual(growing(both, [50, 50, 50], [90, 60, 90], free), [true, true, false]);
  assert.deepEqual(growing(both, [50, 50, 50], [40, 40, 40], free), [false, true, false]);
  assert.deepEqual(growing(both, [50, 50, 50], [40, 40, 40], [false, true, false]), [true, false, false]);
  assert.deepEqual(growing(both.slice(2), [50], [90], [false]), [false]);
});

test("who says which row is chosen is heard by the table of that key", () => {
  const world = {};
  const heard = [];
  sharedTables(world).listeners.add((key) => heard.push([key, sharedTables(world).chosen.get(key)]));
  setChosenRow(sharedTables(world), "one", 3);
  setChosenRow(sharedTables(world), "other", null);
  assert.deepEqual(heard, [
    ["one", 3],
    ["other", null],
  ]);
});
