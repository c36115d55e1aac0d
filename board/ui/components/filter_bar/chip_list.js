// The chips of a filter: each a condition that can be negated, switched off, changed or removed.

import { button, made } from "../elements.js";

/** @import { Chip } from "./types" */

/**
 * @param {HTMLElement} into
 * @param {Chip[]} chips
 * @param {(chips: Chip[]) => void} changed
 * @param {(at: number) => void} edit
 */
export function showChips(into, chips, changed, edit) {
  /** @type {(at: number, one: Partial<Chip>) => void} */
  const set = (at, one) => changed(chips.map((chip, other) => (other === at ? { ...chip, ...one } : chip)));
  into.replaceChildren(
    ...chips.map((chip, at) => {
      const box = made("span", "fb-chip", "", { role: "group", "aria-label": chip.condition });
      box.toggleAttribute("data-off", !chip.on);
      const not = button("fb-not", "not", "let what does not satisfy it through instead", () =>
        set(at, { negated: !chip.negated }),
      );
      not.setAttribute("aria-pressed", String(chip.negated));
      const words = button("fb-words", chip.condition, `change: ${chip.condition}`, () => edit(at));
      const on = made("input", "fb-on", "", { type: "checkbox", title: "in force", "aria-label": "in force" });
      on.checked = chip.on;
      on.onchange = () => set(at, { on: on.checked });
      const away = () => changed(chips.filter((_, other) => other !== at));
      box.append(on, not, words, button("fb-away", "✕", "remove this condition", away));
      return box;
    }),
  );
}
