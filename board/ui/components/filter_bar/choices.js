// Lists that open below the filter bar: what may be meant while the reader writes, and filters of before.

import { made } from "../elements.js";

/** @import { Proposal } from "./types" */

/**
 * A list of proposals of which one is marked; the keyboard stays where it is.
 * @typedef {object} Choices
 * @property {HTMLElement} box
 * @property {(proposals: Proposal[], choose: (one: Proposal) => void) => void} show
 * @property {(by: number) => void} move
 * @property {() => boolean} take
 * @property {() => void} hide
 * @property {() => boolean} isOpen
 */

/**
 * @param {HTMLInputElement} input
 * @returns {Choices}
 */
export function createChoices(input) {
  const box = made("div", "fb-choices", "", { role: "listbox", id: "fb-choices" });
  box.hidden = true;
  box.onmousedown = (event) => event.preventDefault(); // the keyboard stays in the field, and so the list open
  /** @type {{ shown: Proposal[]; at: number; choose: (one: Proposal) => void }} */
  const state = { shown: [], at: 0, choose: () => {} };
  const mark = () => {
    for (const [at, one] of [...box.children].entries()) one.setAttribute("aria-selected", String(at === state.at));
    box.children[state.at]?.scrollIntoView({ block: "nearest" });
    const marked = box.hidden ? "" : `fb-choice-${state.at}`;
    input.setAttribute("aria-activedescendant", marked);
  };
  const hide = () => {
    box.hidden = true;
    input.setAttribute("aria-expanded", "false");
    mark();
  };
  const take = () => {
    const chosen = state.shown[state.at];
    if (box.hidden || !chosen) return false;
    hide();
    state.choose(chosen);
    return true;
  };
  return {
    box,
    hide,
    take,
    isOpen: () => !box.hidden,
    move: (by) => {
      state.at = (state.at + by + state.shown.length) % state.shown.length;
      mark();
    },
    show: (proposals, choose) => {
      Object.assign(state, { shown: proposals, at: 0, choose });
      box.replaceChildren(
        ...proposals.map((one, at) => {
          const row = made("div", "fb-choice", "", { role: "option", id: `fb-choice-${at}` });
          row.append(made("span", "fb-what", one.text), made("span", "fb-about", one.about));
          row.onclick = () => {
            state.at = at;
            take();
          };
          return row;
        }),
      );
      box.hidden = proposals.length === 0;
      input.setAttribute("aria-expanded", String(!box.hidden));
      mark();
    },
  };
}
