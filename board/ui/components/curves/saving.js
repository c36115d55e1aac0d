// What a reader takes away of a panel: a picture, the numbers as a file, and a table of them below the plot. Text enters as text alone.

import { element } from "../token_view/dom.js";
import { csvOf } from "./csv.js";
import { tableOf } from "./table.js";

/** @import { Card } from "./types" */

const HEAD = 52; // pixels above the plot of a saved picture, for the names of the panel and its curves
const MARGIN = 12;
const KEPT = 10_000; // milliseconds until what was saved is let go of

/**
 * The menu, and the place of the table, which is empty until it is asked for.
 * @param {Card} card
 * @param {HTMLElement} plot
 */
export function savingParts(card, plot) {
  const table = element("div", "cv-numbers", {
    hidden: true,
    tabIndex: 0,
    role: "region",
    "aria-label": "Numbers of the curves",
  });
  table.onkeydown = (event) => event.stopPropagation(); // the arrow keys scroll it
  /** @type {[string, () => void][]} */
  const ways = [
    ["PNG", () => picture(card, plot).toBlob((blob) => blob && saved(card, "png", blob), "image/png")],
    ["CSV", () => saved(card, "csv", new Blob([csvOf(card)], { type: "text/csv" }))],
    ["Table of the numbers", () => toggleTable(card, table)],
  ];
  return { menu: saveMenu(ways), table };
}

/** @param {[string, () => void][]} ways */
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
    const choose = () => {
      show(false);
      button.focus();
      act();
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
 * The plot as it is on the screen, in the colours of the page, with the panel's name and its curves' above it.
 * @param {Card} card
 * @param {HTMLElement} plot
 */
function picture(card, plot) {
  const drawn = plot.querySelector("canvas");
  const canvas = element("canvas", "", { width: drawn?.width ?? 0, height: (drawn?.height ?? 0) + HEAD * devicePixelRatio });
  const pen = canvas.getContext("2d");
  if (!drawn || !pen) return canvas;
  const look = getComputedStyle(plot);
  pen.fillStyle = look.getPropertyValue("--st-background-color");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(drawn, 0, HEAD * devicePixelRatio);
  pen.scale(devicePixelRatio, devicePixelRatio);
  pen.fillStyle = look.color;
  pen.font = `600 15px ${look.fontFamily}`;
  pen.fillText([card.title, card.unit].filter(Boolean).join(" · "), MARGIN, 22);
  pen.font = `12px ${look.fontFamily}`;
  let left = MARGIN;
  for (const { name, color } of [...card.curves].reverse()) {
    pen.fillStyle = color;
    pen.fillText(name, left, 42);
    left += pen.measureText(name).width + MARGIN;
  }
  return canvas;
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
