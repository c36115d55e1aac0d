// The tools beside the count: search in the response, go to a position, and the list of keys.

import { element } from "./dom.js";
import { whole } from "./format.js";
import { KEYS } from "./key_names.js";
import { joinedTexts, matchesOf, matchFrom, matchMarks } from "./search.js";

/** @import { JoinedTexts, Match, Model } from "./model_types" */
/** @import { SearchBar, SearchBarEvents } from "./view_types" */

/** @typedef {{ model: Model; whole: JoinedTexts | null; matches: Match[]; current: number }} State */

/**
 * The tools in `box`, the key list in `help`. `on` holds what they tell: found(marks or null), go(index), raw(whether), leave() when the
 * keyboard goes back to the text, here() for the token to search from.
 * @param {HTMLElement} box
 * @param {HTMLElement} help
 * @param {SearchBarEvents} on
 * @returns {SearchBar}
 */
export function createSearchBar(box, help, on) {
  const search = input("tv-search", "find", "search in the response");
  const count = element("span", "tv-found tv-dim", { role: "status" });
  const goTo = input("tv-goto", "go to", "go to token number");
  goTo.inputMode = "numeric";
  const keys = element(
    "button",
    "tv-zoom tv-keys",
    { type: "button", title: "keyboard shortcuts", "aria-label": "keyboard shortcuts" },
    "?",
  );
  const label = "draw tokens by their names in the tokenizer instead of by their bytes";
  const raw = element("button", "tv-zoom tv-raw", { type: "button", title: label, "aria-label": label }, "raw names");
  raw.onclick = () => on.raw(raw.getAttribute("aria-pressed") !== "true");
  box.append(search, count, goTo, raw, keys);
  help.append(...KEYS.flatMap(([key, what]) => [element("kbd", "", {}, key), element("span", "", {}, what)]));
  // The model comes with the first `show`.
  const state = /** @type {State} */ (/** @type {unknown} */ ({ model: null, whole: null, matches: [], current: -1 }));
  const tell = () => {
    count.textContent = countText(search.value, state);
    on.found(state.matches.length ? matchMarks(state.model.n, state.matches, state.current) : null);
    if (state.current >= 0) on.go(state.matches[state.current][0]);
  };
  search.oninput = () => {
    state.whole ??= joinedTexts(state.model.n, (i) => state.model.drawn(i));
    state.matches = matchesOf(state.whole, search.value);
    state.current = matchFrom(state.matches, on.here());
    tell();
  };
  search.onkeydown = typed(on, (event) => {
    if (state.matches.length === 0) return;
    state.current = (state.current + (event.shiftKey ? -1 : 1) + state.matches.length) % state.matches.length;
    tell();
  });
  goTo.onkeydown = typed(on, () => {
    const wanted = Number(goTo.value.replace(/[\s,_]/g, "")) - 1 - state.model.start;
    if (goTo.value === "" || !Number.isFinite(wanted)) return;
    on.go(Math.min(state.model.n - 1, Math.max(0, Math.round(wanted))));
    on.leave();
  });
  keys.onclick = () => toggle();
  const toggle = (shown = help.hidden) => {
    help.hidden = !shown;
  };
  return {
    show(model) {
      Object.assign(state, { model, whole: null, matches: [], current: -1 });
      search.value = goTo.value = count.textContent = "";
      box.hidden = model.n === 0;
      raw.hidden = model.codec === "plain";
      raw.setAttribute("aria-pressed", String(model.raw));
    },
    search: () => search.select(),
    goto: () => goTo.select(),
    help: toggle,
  };
}

/**
 * @param {string} name
 * @param {string} placeholder
 * @param {string} label
 */
function input(name, placeholder, label) {
  return element("input", `tv-input ${name}`, {
    type: "text",
    placeholder,
    "aria-label": label,
    title: label,
    spellcheck: false,
    autocomplete: "off",
  });
}

/**
 * Enter acts and Escape leaves; no key reaches the page, whose own shortcuts would take it.
 * @param {SearchBarEvents} on
 * @param {(event: KeyboardEvent) => void} enter
 * @returns {(event: KeyboardEvent) => void}
 */
function typed(on, enter) {
  return (event) => {
    event.stopPropagation();
    if (event.key === "Escape") on.leave();
    if (event.key !== "Enter") return;
    event.preventDefault();
    enter(event);
  };
}

/**
 * @param {string} query
 * @param {State} state
 */
function countText(query, { matches, current }) {
  if (query === "") return "";
  return matches.length === 0 ? "none" : `${whole(current + 1)} of ${whole(matches.length)}`;
}
