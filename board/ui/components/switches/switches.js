// Switches below each other; what one is changes when the page says so, and at once under the reader's click.

import { made } from "../elements.js";

/** @import { Mounted, Parent } from "../streamlit" */

/** @typedef {{ name: string; label: string; help: string; on: boolean }} Switch */

/** @type {WeakMap<Parent, HTMLElement>} */
const boxes = new WeakMap();

/** @param {Mounted<{ switches: Switch[] }>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const box = boxes.get(parentElement) ?? made("div", "switches");
  boxes.set(parentElement, box);
  if (!box.isConnected) parentElement.append(box);
  const inputs = [...box.querySelectorAll("input")];
  const same = inputs.map(({ name }) => name).join("\n") === data.switches.map(({ name }) => name).join("\n");
  if (!same) box.replaceChildren(...data.switches.map(line));
  for (const [at, input] of box.querySelectorAll("input").entries()) {
    const { name, on } = data.switches[at];
    input.checked = on;
    input.onchange = () => setTriggerValue("switched", { name, on: input.checked });
  }
  return () => {
    boxes.delete(parentElement);
    box.remove();
  };
}

/** @param {Switch} one */
function line({ name, label, help }) {
  const row = made("label", "switch", "", { title: help });
  row.append(made("input", "switch-box", "", { type: "checkbox", role: "switch", name }), made("span", "switch-label", label));
  return row;
}
