// Puts names into the page as text nodes within links: never as markup.

/** @import { Mounted } from "../streamlit" */

/** @param {Mounted<{ links: { name: string; href: string }[] }>} mounted */
export default function ({ data, parentElement }) {
  const nav = parentElement.querySelector("nav") ?? parentElement.appendChild(document.createElement("nav"));
  nav.translate = false;
  nav.replaceChildren(
    ...data.links.map(({ name, href }) => {
      const link = document.createElement("a");
      link.textContent = name;
      link.href = new URL(href, document.location.href).href;
      return link;
    }),
  );
}
