// What a reader takes away of a panel: a picture, the numbers as a file or copied, and a table of them below the plot. Text enters as text alone.

import { element } from "../token_view/dom.js";
import { csvOf, tabSeparated } from "./csv.js";
import { svgOf } from "./svg.js";
import { tableOf } from "./table.js";

/** @import { Card, Range } from "./types" */

const SIZE = { width: 760, height: 420 };
const SHARP = 2; // pixels of a saved PNG in each of its picture
const KEPT = 10_000; // milliseconds until what was saved is let go of

/**
 * The menu, and the place of the table, which is empty until it is asked for.
 * @param {Card} card
 * @param {() => Range} span the first and the last step in view
 */
export function savingParts(card, span) {
  const table = element("div", "cv-numbers", {
    hidden: true,
    tabIndex: 0,
    role: "region",
    "aria-label": "Numbers of the curves",
  });
  table.onkeydown = (event) => event.stopPropagation(); // the arrow keys scroll it
  /** @type {[string, () => void | Promise<void>][]} */
  const ways = [
    ["PNG", async () => saved(card, "png", await png(svgOf(card, span(), SIZE)))],
    ["SVG", () => saved(card, "svg", new Blob([svgOf(card, span(), SIZE)], { type: "image/svg+xml" }))],
    ["CSV", () => saved(card, "csv", new Blob([csvOf(card)], { type: "text/csv" }))],
    ["Table of the numbers", () => toggleTable(card, table)],
  ];
  // a page that came over plain HTTP from another machine has no clipboard
  if (navigator.clipboard) ways.splice(3, 0, ["Copy the numbers", () => navigator.clipboard.writeText(tabSeparated(card))]);
  return { menu: saveMenu(ways), table };
}

/** @param {[string, () => void | Promise<void>][]} ways */
function saveMenu(ways) {
  const menu = element("span", "cv-save-menu", { hidden: true });
  const button = element("button", "cv-save", { type: "button", "aria-expanded": "false", "aria-label": "Save or copy" }, "Save");
  /** @param {boolean} open */
  const show = (open) => {
    menu.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  };
  button.onclick = () => show(menu.hidden === true);
  for (const [name, act] of ways) {
    const choose = async () => {
      show(false);
      button.focus();
      await act();
    };
    menu.append(element("button", "", { type: "button", onclick: choose }, name));
  }
  const box = element("span", "cv-save-box", {}, button, menu);
  box.onkeydown = (event) => {
    event.stopPropagation(); // the page's own keys and those of the curves rest while the menu has the focus
    if (event.key !== "Escape" || menu.hidden) return;
    show(false);
    button.focus();
  };
  box.addEventListener("focusout", (event) => {
    if (!box.contains(/** @type {Node | null} */ (event.relatedTarget))) show(false);
  });
  return box;
}

/**
 * Hands a file to the browser, called as the panel is.
 * @param {Card} card
 * @param {string} ending
 * @param {Blob} blob
 */
function saved({ title }, ending, blob) {
  const name =
    title
      .replaceAll(/[^\p{L}\p{N}._-]+/gu, "_")
      .replaceAll(/^_|_$/g, "")
      .slice(0, 80) || "curves";
  const href = URL.createObjectURL(blob);
  element("a", "", { href, download: `${name}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT);
}

/**
 * @param {string} svg
 * @returns {Promise<Blob>}
 */
async function png(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = element("canvas", "", { width: SIZE.width * SHARP, height: SIZE.height * SHARP });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("The browser made no PNG."))), "image/png");
  });
}

/**
 * @param {Card} card
 * @param {HTMLElement} place
 */
function toggleTable(card, place) {
  place.hidden = !place.hidden;
  if (place.hidden || place.firstChild) return;
  const { head, rows, note } = tableOf(card);
  const said = [card.title, card.unit, note].filter(Boolean).join(" · ");
  const names = head.map((name) => element("th", "", { scope: "col" }, name));
  const lines = rows.map(([step, ...values]) =>
    element("tr", "", {}, element("th", "", { scope: "row" }, step), ...values.map((value) => element("td", "", {}, value))),
  );
  const body = [element("thead", "", {}, element("tr", "", {}, ...names)), element("tbody", "", {}, ...lines)];
  place.append(element("table", "", {}, element("caption", "", {}, said), ...body));
}
