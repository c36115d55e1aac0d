// The runs that are laid side by side, a chip each. Names enter as text alone.

import { element, replace } from "../token_view/dom.js";

/** @import { Mounted } from "../streamlit" */

/** @typedef {{ name: string; color: string; about: string; here: boolean; gone: boolean }} RunChip */

/** @param {Mounted<{ chips: RunChip[] }>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const shown = JSON.stringify(data);
  /** @type {(HTMLElement & { shown?: string }) | null} */
  const before = parentElement.querySelector(".rc");
  if (before?.shown === shown) return;
  const chips = data.chips.map((chip, at) => {
    const dot = element("i", "rc-dot");
    dot.style.background = chip.color;
    const go = {
      type: "button",
      title: chip.about,
      disabled: chip.here || chip.gone,
      onclick: () => setTriggerValue("opened", at),
    };
    const name = element("button", "rc-name", go, chip.name);
    const gone = { type: "button", "aria-label": `Take ${chip.name} away`, onclick: () => setTriggerValue("removed", at) };
    const parts = chip.here ? [dot, name] : [dot, name, element("button", "rc-away", gone, "✕")];
    const made = element("span", "rc-chip", {}, ...parts);
    made.toggleAttribute("data-here", chip.here);
    made.toggleAttribute("data-gone", chip.gone);
    return made;
  });
  const root = element("div", "rc", { role: "group", "aria-label": "Runs side by side", translate: false }, ...chips);
  replace(parentElement, before, Object.assign(root, { shown }));
}
