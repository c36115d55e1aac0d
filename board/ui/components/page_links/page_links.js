// Links from page to page that take the whole address along, as it is when the reader clicks.

import { whenGone } from "../leaving.js";
import { setOut, there } from "../page_on_its_way.js";
import { whenLost } from "./lost_page.js";

/** @import { Mounted, Parent } from "../streamlit" */

/**
 * @typedef {object} Links
 * @property {{ text: string; path: string; kind: string }[]} links
 * @property {string | null} chosen
 * @property {string} label
 */

/** @type {WeakMap<Parent, { nav: HTMLElement; drawn: string }>} */
const rows = new WeakMap();

/** @param {Mounted<Links>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const row = rows.get(parentElement) ?? begin(parentElement);
  const drawn = JSON.stringify([data.links, data.label]);
  if (row.drawn !== drawn) draw(row.nav, data);
  row.drawn = drawn;
  if (data.chosen !== null) {
    there(data.chosen);
    whenLost(() => setTriggerValue("lost", true));
  }
  for (const link of row.nav.querySelectorAll("a")) {
    if (link.dataset.path === data.chosen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  return whenGone(parentElement, () => {
    rows.delete(parentElement);
    row.nav.remove();
  });
}

/** @param {Parent} parentElement */
function begin(parentElement) {
  const row = { nav: document.createElement("nav"), drawn: "" };
  row.nav.className = "page-links";
  rows.set(parentElement, row);
  parentElement.append(row.nav);
  return row;
}

/**
 * @param {HTMLElement} nav
 * @param {Links} data
 */
function draw(nav, { links, label }) {
  if (label) nav.setAttribute("aria-label", label);
  else nav.setAttribute("role", "presentation");
  nav.replaceChildren(
    ...links.map(({ text, path, kind }) => {
      const link = document.createElement("a");
      link.textContent = text;
      link.dataset.path = path;
      link.dataset.kind = kind;
      aim(link);
      // What the browser offers for a link, such as another tab, takes the address as it is by then.
      link.onpointerenter = link.onfocus = () => aim(link);
      link.onclick = (event) => {
        aim(link);
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return;
        event.preventDefault();
        go(link.href);
        setOut(path);
      };
      return link;
    }),
  );
}

/** @param {HTMLAnchorElement} link */
function aim(link) {
  link.href = new URL(`${link.dataset.path || "."}${location.search}`, location.href).href;
}

/**
 * Streamlit changes pages without loading anew for its own links, which take what they were drawn with, and for Back and Forward.
 * @param {string} address
 */
function go(address) {
  const app = document.querySelector('[data-testid="stApp"]');
  if (app instanceof HTMLElement && (app.dataset.testConnectionState ?? "CONNECTED") !== "CONNECTED") return;
  if (address !== location.href) history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}
