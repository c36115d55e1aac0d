// The filter of all pages: conditions as chips, a field that completes while one writes, filters of before, and how many rollouts are left.

import { button, made } from "../elements.js";
import { whenGone } from "../leaving.js";
import { showChips } from "./chip_list.js";
import { createChoices } from "./choices.js";
import { proposed } from "./proposals.js";

/** @import { Mounted, Parent } from "../streamlit" */
/** @import { Choices } from "./choices" */
/** @import { Chip, Filter, Proposal } from "./types" */

/**
 * @typedef {object} State
 * @property {HTMLElement} root
 * @property {HTMLElement} chips
 * @property {HTMLInputElement} input
 * @property {Choices} choices
 * @property {HTMLElement} count
 * @property {HTMLElement} problem
 * @property {HTMLElement} save
 * @property {HTMLInputElement} name where the filter is named; hidden until `save` is clicked
 * @property {Filter} data
 * @property {number | null} editing
 * @property {(name: string, value: unknown) => void} tell
 */

const EXAMPLE = "Filter: reward > 0.5 AND response ILIKE '%<tool_call>%'";

/** @type {WeakMap<Parent, State>} */
const states = new WeakMap();

/** @param {Mounted<Filter>} mounted */
export default function ({ data, parentElement, setTriggerValue }) {
  const known = states.get(parentElement);
  const state = known ?? build(parentElement, data);
  states.set(parentElement, state);
  const refused = data.problem && data.problem.typed !== known?.data.problem?.typed;
  Object.assign(state, { data, tell: setTriggerValue });
  draw(state);
  state.count.textContent = data.count;
  state.root.toggleAttribute(
    "data-filtered",
    data.chips.some((one) => one.on),
  );
  state.save.hidden = data.chips.length === 0 || !state.name.hidden;
  state.problem.textContent = data.problem?.reason ?? "";
  state.problem.hidden = !data.problem;
  if (refused && data.problem && !state.input.value) state.input.value = data.problem.typed;
  return whenGone(parentElement, () => {
    states.delete(parentElement);
    state.root.remove();
  });
}

/**
 * @param {Parent} parentElement
 * @param {Filter} data
 * @returns {State}
 */
function build(parentElement, data) {
  const root = made("div", "fb");
  const field = made("div", "fb-field");
  const chips = made("span", "fb-chips");
  const input = made("input", "fb-input", "", {
    placeholder: EXAMPLE,
    "aria-label": "filter the rollouts by a condition in SQL",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-controls": "fb-choices",
    "aria-expanded": "false",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
  });
  const choices = createChoices(input);
  const count = made("span", "fb-count", "", { role: "status" });
  const problem = made("pre", "fb-problem", "", { role: "alert" });
  const name = nameField();
  /** @type {State} */
  const state = { root, chips, input, choices, count, problem, data, editing: null, tell: () => {}, save: count, name };
  const earlier = button("fb-more", "Earlier ▾", "filters of before, and those with a name", () => before(state));
  state.save = button("fb-more", "Name it", "keep this filter under a name", () => askName(state, true));
  field.append(chips, input, state.save, state.name, earlier);
  root.append(field, count, choices.box, problem);
  input.oninput = () => propose(state);
  input.onblur = () => choices.hide();
  input.onkeydown = (event) => typed(state, event);
  state.name.onkeydown = (event) => named(state, event);
  state.name.onblur = () => askName(state, false);
  parentElement.append(root);
  return state;
}

/**
 * The chips. What the reader changes is there at once: the next click may come before the server has answered.
 * @param {State} state
 */
function draw(state) {
  const changed = (/** @type {Chip[]} */ chips) => {
    state.data = { ...state.data, chips };
    draw(state);
    state.tell("chips", chips);
  };
  showChips(state.chips, state.data.chips, changed, (at) => edit(state, at));
}

/**
 * @param {State} state
 * @param {KeyboardEvent} event
 */
function typed(state, event) {
  const { choices, input } = state;
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step && choices.isOpen()) choices.move(step);
  else if (event.key === "Tab" && choices.isOpen()) choices.take();
  else if (event.key === "Escape") leave(state);
  else if (event.key === "Enter" && !event.isComposing) enter(state);
  else if (event.key === "Backspace" && !input.value && state.data.chips.length) edit(state, state.data.chips.length - 1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/**
 * Enter asks for what was written; where a filter of before is marked, for that.
 * @param {State} state
 */
function enter(state) {
  const { input, choices } = state;
  const condition = input.value.trim();
  if (!condition) {
    choices.take();
    return;
  }
  choices.hide();
  const { editing } = state;
  state.editing = null;
  input.value = "";
  state.tell("typed", { condition, in_place_of: editing });
}

/** @param {State} state */
function leave(state) {
  if (state.choices.isOpen()) state.choices.hide();
  else {
    state.input.value = "";
    state.editing = null;
    state.input.blur();
  }
}

/** @param {State} state */
function propose(state) {
  const { input, choices } = state;
  const caret = input.selectionStart ?? input.value.length;
  const { from, proposals } = proposed(input.value.slice(0, caret), state.data.columns);
  choices.show(proposals, (one) => {
    input.setRangeText(one.text, from, caret, "end");
    input.focus();
  });
}

/**
 * Put a chip's condition where it can be changed.
 * @param {State} state
 * @param {number} at
 */
function edit(state, at) {
  const { condition, negated } = state.data.chips[at];
  state.input.value = negated ? `NOT (${condition})` : condition;
  state.editing = at;
  state.input.focus();
}

/** @param {State} state */
function before(state) {
  const { choices, data, input } = state;
  if (choices.isOpen()) {
    choices.hide();
    return;
  }
  input.focus();
  /** @type {Proposal[]} */
  const found = [
    ...data.named.map((one) => ({ text: one.filter, about: one.name })),
    ...data.recent.map((text) => ({ text, about: "" })),
  ];
  if (found.length) choices.show(found, (one) => state.tell("chosen", one.text));
  else choices.show([{ text: "", about: "No filter was used before." }], () => {});
}

function nameField() {
  const field = made("input", "fb-name", "", {
    placeholder: "name of this filter",
    "aria-label": "name of this filter",
    maxlength: "80",
  });
  field.hidden = true;
  return field;
}

/**
 * The field for the name takes the place of its button, or the reverse. Both stay in the page: an element with the keyboard that is taken
 * out of it hears of that in the middle of being taken out.
 * @param {State} state
 * @param {boolean} asked
 */
function askName(state, asked) {
  state.name.hidden = !asked;
  state.save.hidden = asked || state.data.chips.length === 0;
  if (asked) {
    state.name.value = "";
    state.name.focus();
  }
}

/**
 * @param {State} state
 * @param {KeyboardEvent} event
 */
function named(state, event) {
  const given = state.name.value.trim();
  event.stopPropagation();
  if (event.key !== "Enter" && event.key !== "Escape") return;
  if (event.key === "Enter" && given) state.tell("named", given);
  state.input.focus();
}
