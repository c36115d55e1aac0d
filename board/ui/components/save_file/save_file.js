// Begins a download: a link with `download` is clicked, so that an answer that is no file never takes the page's place.

/** @import { Mounted } from "../streamlit" */

/** @type {Set<string>} */
const begun = new Set();

/** @param {Mounted<{ address: string }>} mounted */
export default function ({ data }) {
  if (begun.has(data.address)) return;
  begun.add(data.address);
  const link = document.createElement("a");
  link.href = new URL(data.address, document.location.href).href;
  link.download = "";
  link.click();
}
