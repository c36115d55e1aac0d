// The card beside a token: where it is, what it is exactly, and every number it has. Text only.

import { element } from "./dom.js";
import { exact, short, whole } from "./format.js";
import { badByte, hex } from "./bytes.js";
import { codePoints, literal } from "./marks.js";
import { drawToken } from "./glyphs.js";

/** Longest token text drawn whole; the rest is counted. */
const LONGEST = 240;
const MARGIN = 8;

/** Fills the card for token `index`; beside it the numbers of `pinned`, when another token is pinned. `metric` colours the text now. */
export function drawTip(card, model, index, pinned, metric) {
  const other = pinned === index ? null : pinned;
  card.replaceChildren(...heading(model, index), table(model, index, other, metric));
}

/** Puts the card under the token, or above where there is no room below, inside the window. */
export function placeTip(card, token) {
  const boxes = [...token.getClientRects()];
  const box = boxes[boxes.length - 1] ?? token.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const below = box.bottom + MARGIN + height <= window.innerHeight;
  card.style.left = `${Math.max(MARGIN, Math.min(box.left, window.innerWidth - width - MARGIN))}px`;
  card.style.top = `${below ? box.bottom + MARGIN : Math.max(MARGIN, box.top - MARGIN - height)}px`;
}

/** One line for those who listen instead of look: "token 58 of 212, " the", kl 0.12 nats". */
export function spoken(model, index, metric) {
  const place = `token ${whole(model.start + index + 1)} of ${whole(model.total)}`;
  const value = metric ? `, ${metric.name} ${short(metric.values[index])} ${metric.unit}` : "";
  return `${place}, ${literal(cut(model.token(index)))}${value}${model.counts[index] === 0 ? ", masked" : ""}`;
}

/** The first characters of a token, and how many there are when that is not all. */
export function cut(token) {
  const characters = [...token];
  return characters.length <= LONGEST ? token : `${characters.slice(0, LONGEST).join("")}… (${whole(characters.length)} characters)`;
}

function heading(model, index) {
  const token = model.token(index);
  const shown = element("div", "tv-tip-text");
  const split = model.units(index).find((unit) => unit.glyph !== undefined);
  drawToken(shown, cut(model.codec === "plain" ? token : wholeText(model.units(index))));
  const position = model.start + index;
  const fromZero = element("span", "tv-dim", {}, ` · index ${position}`);
  const where = element("div", "tv-tip-where", {}, `token ${whole(position + 1)} of ${whole(model.total)}`, fromZero);
  const lines = [where, shown, element("div", "tv-tip-json", {}, literal(cut(token)))];
  const points = codePoints(token);
  const note = (text) => lines.push(element("div", "tv-tip-points", {}, text));
  if (model.codec !== "plain") note(`bytes ${hex(model.bytes(index).slice(0, 24))}`);
  if (split) note(`shares ${split.glyph} with ${split.parts - 1} other token${split.parts === 2 ? "" : "s"}: part ${split.part + 1} of ${split.parts}`);
  if (points.length > 0) note(points.slice(0, 6).join(", ") + (points.length > 6 ? ", …" : ""));
  if (model.counts[index] === 0) note("padding or masked: enters no mean and no scale");
  return lines;
}

function wholeText(units) {
  return units.map(({ text, glyph, bad }) => text ?? glyph ?? badByte(bad)).join("");
}

function table(model, index, pinned, chosen) {
  const head = pinned === null ? [] : [headRow(model, index, pinned)];
  const rows = model.metrics.map((metric) => {
    const value = metric.values[index];
    const digits = exact(value);
    const cells = [
      element("th", "", { scope: "row" }, metric.name),
      element("td", "tv-num", {}, short(value)),
      ...(pinned === null ? [] : [element("td", "tv-num tv-dim", {}, short(metric.values[pinned]))]),
      element("td", "tv-dim", {}, Number.isNaN(value) ? "missing" : metric.unit),
      element("td", "tv-exact", {}, digits === short(value) ? "" : digits),
    ];
    return element("tr", metric === chosen ? "tv-chosen" : "", { "data-metric": metric.name }, ...cells);
  });
  return element("table", "tv-tip-table", {}, element("tbody", "", {}, ...head, ...rows));
}

function headRow(model, index, pinned) {
  const name = (i) => whole(model.start + i + 1);
  const cells = ["", name(index), `pinned ${name(pinned)}`, "", ""].map((text) => element("td", "tv-num tv-dim", {}, text));
  return element("tr", "tv-tip-head", {}, ...cells);
}
