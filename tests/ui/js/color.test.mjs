import assert from "node:assert/strict";
import { test } from "node:test";
import {
  colorAt,
  contrast,
  css,
  difference,
  inkOn,
  luminance,
  palette,
  parseColor,
} from "../../../board/ui/components/token_view/color.js";

const THEMES = [
  ["light", "#fcfdfc", "#1b2422"],
  ["dark", "#0c1110", "#e3eae7"],
  ["Streamlit light", "#ffffff", "#31333f"],
  ["Streamlit dark", "#0e1117", "#fafafa"],
];
const PLACES = Array.from({ length: 12 }, (_, i) => i / 11);
const RAMPS = [
  ["sequential", 1],
  ["diverging", 1],
  ["diverging", -1],
];

for (const [name, page, ink] of THEMES) {
  const [background, text] = [page, ink].map(parseColor);
  const colors = palette(background);
  for (const [kind, sign] of RAMPS) {
    const ramp = PLACES.map((at) => colorAt(colors, kind, sign * at));
    test(`${name}: text is legible on every ${kind} colour (${sign})`, () => {
      for (const fill of ramp) assert.ok(contrast(fill, inkOn(fill, text)) >= 4.5);
    });
    test(`${name}: ${kind} (${sign}) starts as the page and moves away from it in even steps`, () => {
      assert.ok(difference(ramp[0], background) < 0.002);
      const steps = ramp.slice(1).map((color, i) => difference(ramp[i], color));
      assert.ok(Math.max(...steps) < 1.6 * Math.min(...steps), steps.join(" "));
      const light = ramp.map(luminance);
      const sorted = [...light].sort((a, b) => (colors.dark ? a - b : b - a));
      assert.deepEqual(light, sorted, "lightness alone tells the order, whatever colours an eye can tell apart");
    });
  }
}

test("colours are read as the browser writes them", () => {
  assert.deepEqual(parseColor("#abc"), [170, 187, 204]);
  assert.deepEqual(parseColor(" #0c1110 "), [12, 17, 16]);
  assert.deepEqual(parseColor("rgb(1, 2, 3)"), [1, 2, 3]);
  assert.deepEqual(parseColor("rgba(1 2 3 / 50%)"), [1, 2, 3]);
  assert.equal(parseColor("papayawhip"), null);
  assert.equal(parseColor(""), null);
});

test("colours are written for a style", () => assert.equal(css([1.4, 2, 254.6]), "rgb(1 2 255)"));
