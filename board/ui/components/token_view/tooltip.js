// The card beside a token: where it is, what it is exactly, and every number it has. Text only.

import { badByte, decoded, hex } from "./bytes.js";
import { element, whenIdle } from "./dom.js";
import { exact, short, whole } from "./format.js";
import { drawToken } from "./glyphs.js";
import { codePoints, literal } from "./marks.js";
import { hangAt } from "./placing.js";
import { ordinal, prepareRanks } from "./rank.js";

/** @import { Metric, Model, Unit } from "./model_types" */
/** @import { Surroundings } from "./plain_types" */

/** Longest token text drawn whole; the rest is counted. */
const LONGEST = 240;
/** Bytes of a token written out; the rest is counted. */
const MOST_BYTES = 24;
/** How much stands on a card, all of it first: then without bytes and alternatives, then the chosen metric alone. */
const DENSITIES = ["full", "brief", "least"];

/**
 * Fills the card for token `index`; beside it the numbers of `pinned`, when another token is pinned. `metric` colours the text now.
 * @param {HTMLElement} card
 * @param {Model} model
 * @param {number} index
 * @param {number | null} pinned
 * @param {Metric | null} metric
 */
export function drawTooltip(card, model, index, pinned, metric) {
  const other = pinned === index ? null : pinned;
  if (!model.ranked) prepareRanks(model.metrics, whenIdle);
  model.ranked = true;
  const what = element("div", "tv-tip-what", {}, ...heading(model, index));
  const others = element("div", "tv-tip-else", {}, ...alternativesList(model, index));
  card.replaceChildren(what, numbersTable(model, index, other, metric), others);
}

/**
 * Puts the card where `around` (of surroundings.js) has room for it, with less on it where there is none for all; hides it where there is none at all.
 * @param {HTMLElement} card
 * @param {Surroundings} surroundings
 */
export function placeTooltip(card, { token, bounds, ...around }) {
  card.hidden = token === undefined;
  if (token === undefined) return;
  for (const density of DENSITIES) {
    card.dataset.density = density;
    const spot = hangAt(card.getBoundingClientRect(), bounds, token, around);
    if (spot === null) continue;
    card.style.left = `${spot.left}px`;
    card.style.top = `${spot.top}px`;
    return;
  }
  card.hidden = true;
}

/**
 * A token as text for where it stands alone: a character shared with others says so, a lost byte is named.
 * @param {Model} model
 * @param {number} index
 */
export function readable(model, index) {
  if (model.codec === "plain") return model.token(index);
  /** @param {Unit} unit */
  const textOfUnit = (unit) => {
    if (unit.glyph !== undefined) return `${unit.glyph} (${unit.part + 1} of ${unit.parts})`;
    return unit.text ?? badByte(unit.bad);
  };
  return model.units(index).map(textOfUnit).join("");
}

/**
 * One line for those who listen instead of look: "token 58 of 212, " the", kl 0.12 nats".
 * @param {Model} model
 * @param {number} index
 * @param {Metric | null} metric
 */
export function spoken(model, index, metric) {
  const position = `token ${whole(model.start + index + 1)} of ${whole(model.total)}`;
  const value = metric ? `, ${metric.name} ${short(metric.values[index])} ${metric.unit}` : "";
  return `${position}, ${literal(cut(readable(model, index)))}${value}${model.counts[index] === 0 ? ", masked" : ""}`;
}

/**
 * The first characters of a token, and how many there are when that is not all.
 * @param {string} token
 */
export function cut(token) {
  const characters = [...token];
  return characters.length <= LONGEST
    ? token
    : `${characters.slice(0, LONGEST).join("")}… (${whole(characters.length)} characters)`;
}

/**
 * @param {Model} model
 * @param {number} index
 * @returns {HTMLElement[]}
 */
function heading(model, index) {
  const token = model.token(index);
  const shown = element("div", "tv-tip-text");
  const split = model.units(index).find((unit) => unit.glyph !== undefined);
  drawToken(shown, cut(model.codec === "plain" ? token : wholeText(model.units(index))));
  const position = model.start + index;
  const id = model.id(index);
  const fromZero = element("span", "tv-dim", {}, ` · index ${position}${id === null ? "" : ` · id ${id}`}`);
  const where = element("div", "tv-tip-where", {}, `token ${whole(position + 1)} of ${whole(model.total)}`, fromZero);
  const lines = [where, shown, element("div", "tv-tip-json", {}, literal(cut(token)))];
  const points = codePoints(token);
  /** @param {string} text */
  const note = (text) => lines.push(element("div", "tv-tip-points", {}, text));
  note(bytesText(model, index));
  if (split)
    note(
      `shares ${split.glyph} with ${split.parts - 1} other token${split.parts === 2 ? "" : "s"}: part ${split.part + 1} of ${split.parts}`,
    );
  if (points.length > 0) note(points.slice(0, 6).join(", ") + (points.length > 6 ? ", …" : ""));
  if (model.counts[index] === 0) note("padding or masked: enters no mean and no scale");
  return lines;
}

/**
 * "bytes 20 74 68 65"; text that is half of a character has none.
 * @param {Model} model
 * @param {number} index
 */
function bytesText(model, index) {
  if (/\p{Cs}/u.test(model.token(index))) return "no bytes: half of a character";
  const bytes = model.bytes(index);
  if (bytes.length === 0) return "no bytes";
  const rest = bytes.length > MOST_BYTES ? ` … (${whole(bytes.length)} bytes)` : "";
  return `bytes ${hex(bytes.slice(0, MOST_BYTES))}${rest}`;
}

/** @param {Unit[]} units */
function wholeText(units) {
  return units.map((unit) => (unit.bad === undefined ? (unit.text ?? unit.glyph) : badByte(unit.bad))).join("");
}

/**
 * @param {Model} model
 * @param {number} index
 * @param {number | null} pinned
 * @param {Metric | null} chosen
 */
function numbersTable(model, index, pinned, chosen) {
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
      element("td", "tv-rank", {}, ...rankOf(metric, index)),
    ];
    return element("tr", metric === chosen ? "tv-chosen" : "", { "data-metric": metric.name }, ...cells);
  });
  return element("table", "tv-tip-table", {}, element("tbody", "", {}, ...head, ...rows));
}

/**
 * "3rd of 812", counted from the loudest token; nothing for one that is masked or has no number. A narrow card leaves out "of 812".
 * @param {Metric} metric
 * @param {number} index
 * @returns {(string | HTMLElement)[]}
 */
function rankOf(metric, index) {
  const rank = metric.ranking.of(index);
  return rank === null ? [] : [ordinal(rank.rank), element("span", "tv-rank-of", {}, ` of ${whole(rank.of)}`)];
}

/**
 * What else could have been sampled here, where the row says.
 * @param {Model} model
 * @param {number} index
 * @returns {HTMLElement[]}
 */
function alternativesList(model, index) {
  if (model.alternatives === null) return [];
  const { listed, sampled, likeliest } = model.alternatives.at(index);
  const note = element("div", "tv-tip-points", {}, alternativesText(listed, sampled, likeliest.length));
  if (listed === 0) return [note];
  const rows = likeliest.map((one) => {
    const text = element("td", "tv-other", {}, element("bdi", "", {}, literal(cut(decoded(model.codec, one.token)))));
    const mark = element("td", "tv-dim", {}, one.sampled ? "sampled" : "");
    return element("tr", one.sampled ? "tv-chosen" : "", {}, text, element("td", "tv-num", {}, short(one.probability)), mark);
  });
  return [element("table", "tv-tip-table tv-others", {}, element("tbody", "", {}, ...rows)), note];
}

/**
 * @param {number} listed
 * @param {number} sampled
 * @param {number} shown
 */
function alternativesText(listed, sampled, shown) {
  if (listed === 0) return "no alternatives listed here";
  const first = shown < listed ? `the likeliest ${shown} of ${whole(listed)} listed; ` : "";
  if (sampled < 0) return `${first}sampled: not among the ${first ? "" : `${whole(listed)} `}listed`;
  return `${first}sampled: the ${ordinal(sampled + 1)} of ${whole(listed)}`;
}

/**
 * @param {Model} model
 * @param {number} index
 * @param {number} pinned
 */
function headRow(model, index, pinned) {
  /** @param {number} i */
  const name = (i) => whole(model.start + i + 1);
  const cells = ["", name(index), `pinned ${name(pinned)}`, "", "", ""].map((text) => element("td", "tv-num tv-dim", {}, text));
  return element("tr", "tv-tip-head", {}, ...cells);
}
