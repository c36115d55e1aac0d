// Writes names and numbers into a row, as text: never as markup.

import { made } from "../elements.js";

/** @import { Mounted } from "../streamlit" */

/** @param {Mounted<{ facts: [string, string][] }>} mounted */
export default function ({ data, parentElement }) {
  const list = parentElement.querySelector("dl") ?? parentElement.appendChild(made("dl", "facts"));
  list.replaceChildren(...data.facts.map(factOf));
}

/** @param {[string, string]} fact */
function factOf([name, value]) {
  const fact = made("div", "");
  fact.append(made("dt", "", name), made("dd", "", value));
  return fact;
}
