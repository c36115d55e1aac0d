// The response as text: one span per token, in chunks that are built only near the place that is looked at.

import { element, perFrame, whenResized } from "./dom.js";
import { drawUnits, penOf, tokenClass } from "./glyphs.js";
import { foldLine, segmentLabel } from "./labels.js";
import { joinLines } from "./line_joining.js";
import { chunkOf, chunkStarts } from "./tokens.js";

/** @import { Match, Model, ShownMetric } from "./model_types" */
/** @import { SegmentSpan, TextEvents, TextPane, TextState, TokenSpan } from "./view_types" */

/** A chunk ends at the first line end after this many tokens, so that few blocks need to go on in the line of the one before. */
const CHUNK = 128;
/** Without a line end a chunk ends here, and the next one goes on in its last line. */
const CHUNK_LIMIT = 256;
/** Chunks kept built; the farthest are emptied beyond that. */
const KEPT = 36;
/** Pixels above and below the view that are built ahead, and those that are built at once. */
const AHEAD = 400;
const NEAR = 40;
/** Chunks that are built ahead in one frame. */
const PER_FRAME = 2;
/** Pixels of a first screen that are built before there is a layout. */
const FIRST = 480;
const LINE = 26.25;
const LETTER = 7.6;

/**
 * The text in `box`. `on` holds what it tells: built() after chunks were built, moved() when other tokens came into view.
 * @param {HTMLElement} box
 * @param {TextEvents} on
 * @returns {TextPane}
 */
export function createText(box, on) {
  const buildSoon = perFrame(() => buildAhead(state));
  // The model comes with the first `show`.
  const nothing = { model: null, metric: null, starts: [], blocks: [], heights: [], folds: new Map(), built: new Map() };
  const state = /** @type {TextState} */ (/** @type {unknown} */ ({ box, on, pen: penOf(box), buildSoon, ...nothing }));
  const refit = perFrame(() => {
    fit(state);
    build(state);
  });
  state.size = whenResized(box, ({ clientWidth, clientHeight }) => `${clientWidth} ${clientHeight}`, refit);
  box.addEventListener("scroll", () => build(state), { passive: true });
  box.addEventListener("click", (event) => {
    const { segment } = /** @type {Partial<SegmentSpan>} */ (event.target);
    if (segment === undefined) return;
    event.stopImmediatePropagation();
    refold(state, segment.first, () => state.model.folding.toggle(segment));
  });
  box.addEventListener("copy", copyText);
  return {
    show: (model, metric) => show(state, model, metric),
    paint: (metric) => paint(state, metric),
    span: (i) => (i === null || i === undefined ? undefined : spanOf(state, i)),
    reach: (i) => reach(state, i),
    reveal: (i, top = false) => bringToken(state, i, top),
    inView: () => inView(state),
    hides: (i) => state.model.folding.hiding(i) !== null,
    each: (visit) => each(state, visit),
    /** Folds the segment of token `i`, or unfolds it; returns a token that stands where it stood. */
    fold(i) {
      const segment = state.model.folding.around(i);
      if (segment !== null) refold(state, segment.first, () => state.model.folding.toggle(segment));
      return segment?.first ?? i;
    },
    foldAll: () => refold(state, inView(state)?.[0] ?? 0, () => state.model.folding.toggleAll()),
    close() {
      state.size.stop();
      refit.cancel();
      buildSoon.cancel();
    },
  };
}

/**
 * @param {TextState} state
 * @param {Model} model
 * @param {ShownMetric | null} metric
 */
function show(state, model, metric) {
  const { box } = state;
  Object.assign(state, { model, metric, fitted: false });
  // Read before anything is written: a layout that is asked for in between would be computed twice.
  const [wide, tall] = [box.clientWidth, box.clientHeight];
  lay(state, wide);
  if (box.scrollTop !== 0) box.scrollTop = 0;
  for (let c = 0, rows = 0; c < state.blocks.length && rows < Math.max(FIRST, tall); c += 1) {
    rows += state.heights[c];
    fill(state, c);
  }
  state.buildSoon();
}

/**
 * Puts an empty block for every chunk, as tall as it will about be.
 * @param {TextState} state
 * @param {number} wide
 */
function lay(state, wide) {
  const { box, model } = state;
  state.built.clear();
  const folds = model.folding.folds();
  state.folds = new Map(folds.map((segment) => [segment.first, segment]));
  state.starts = chunkStarts(
    model.texts,
    CHUNK,
    CHUNK_LIMIT,
    folds.map(({ first, stop }) => [first, stop]),
  );
  const perLine = Math.max(20, (wide || 900) / LETTER);
  /**
   * @param {number} first
   * @param {number} c
   */
  const linesAt = (first, c) => (state.folds.has(first) ? 1 : model.texts.lines(first, stopOf(state, c), perLine));
  state.heights = state.starts.map((first, c) => LINE * linesAt(first, c));
  state.blocks = state.heights.map((height) => {
    const block = element("div", "tv-chunk");
    block.style.height = `${height}px`;
    return block;
  });
  box.replaceChildren(...state.blocks);
}

/**
 * @param {TextState} state
 * @param {number} c
 */
function stopOf(state, c) {
  return state.starts[c + 1] ?? state.model.n;
}

/**
 * @param {TextState} state
 * @param {number} c
 */
function fill(state, c) {
  if (state.built.has(c)) return false;
  const { model, blocks } = state;
  const first = state.starts[c];
  const fold = state.folds.get(first);
  const spans = [];
  const nodes = [];
  if (fold) nodes.push(foldLine(fold, model));
  for (let i = first; !fold && i < stopOf(state, c); i += 1) {
    nodes.push(...model.folding.startingAt(i).map(segmentLabel));
    const span = tokenSpan(state, i);
    spans.push(span);
    nodes.push(span);
  }
  state.built.set(c, spans);
  blocks[c].style.height = "";
  blocks[c].replaceChildren(...nodes);
  return true;
}

/**
 * @param {TextState} state
 * @param {number} i
 * @returns {TokenSpan}
 */
function tokenSpan({ model, metric, pen }, i) {
  const span = /** @type {TokenSpan} */ (document.createElement("span"));
  drawUnits(span, model.units(i), pen, model.spaces);
  span.index = i;
  span.className = tokenClass(model, metric, i);
  const top = model.tops.get(i);
  if (top !== undefined) span.setAttribute("data-top", top);
  return span;
}

/**
 * Folds or unfolds by `change`, and leaves the place of token `around` at the height where it stands.
 * @param {TextState} state
 * @param {number} around
 * @param {() => void} change
 */
function refold(state, around, change) {
  const { box } = state;
  const before = placeOf(state, around).getBoundingClientRect().top;
  change();
  lay(state, box.clientWidth);
  fill(state, chunkOf(state.starts, around));
  box.scrollTop += placeOf(state, around).getBoundingClientRect().top - before;
  build(state);
  box.scrollTop += placeOf(state, around).getBoundingClientRect().top - before;
  state.on.built();
}

/**
 * What stands for token `i`: its span, or the line of the fold that hides it; its block where it is not built.
 * @param {TextState} state
 * @param {number} i
 * @returns {Element}
 */
function placeOf(state, i) {
  const block = state.blocks[chunkOf(state.starts, i)];
  return spanOf(state, i) ?? block.firstElementChild ?? block;
}

/**
 * Joins what is built for the size of its box, which it has just got: its lines end where that has them end.
 * @param {TextState} state
 */
function fit(state) {
  state.fitted = true;
  state.size.drawn();
  joinLines(state, 0, state.blocks.length - 1);
}

/**
 * Builds what is in view at once, and what is near it a little per frame.
 * @param {TextState} state
 */
function build(state) {
  const { box, blocks } = state;
  if (blocks.length === 0 || box.clientHeight === 0) return;
  const more = buildWithin(state, NEAR, blocks.length);
  // While the layout is as it was last read: marks would have it computed again.
  state.on.moved();
  if (more > 0) state.on.built();
  state.buildSoon();
}

/** @param {TextState} state */
function buildAhead(state) {
  const { box, blocks } = state;
  if (blocks.length === 0 || box.clientHeight === 0) return;
  if (!state.fitted) fit(state);
  const built = buildWithin(state, AHEAD, PER_FRAME);
  if (built > 0) state.on.built();
  if (built === PER_FRAME) state.buildSoon();
  else state.on.moved();
}

/**
 * Builds up to `most` chunks that reach within `margin` pixels of the view; how many were built.
 * @param {TextState} state
 * @param {number} margin
 * @param {number} most
 */
function buildWithin(state, margin, most) {
  const { box, blocks } = state;
  let left = most;
  // A built chunk is rarely as tall as was estimated: look again until the view is full, reading the layout once per look.
  for (let looks = 0; looks < 4 && left > 0; looks += 1) {
    const bottom = box.scrollTop + box.clientHeight + margin;
    const first = blockAt(blocks, box.scrollTop - margin);
    const wanted = [];
    for (let c = first; c < blocks.length && wanted.length < left && blocks[c].offsetTop < bottom; c += 1) {
      if (!state.built.has(c)) wanted.push(c);
    }
    if (wanted.length === 0) break;
    letGo(state, first);
    for (const c of wanted) fill(state, c);
    joinLines(state, wanted[0], wanted[wanted.length - 1]);
    left -= wanted.length;
  }
  return most - left;
}

/**
 * @param {TextState} state
 * @param {number} around
 */
function letGo(state, around) {
  if (state.built.size <= KEPT) return;
  const far = [...state.built.keys()].sort((one, other) => Math.abs(other - around) - Math.abs(one - around));
  const leaving = far.slice(0, state.built.size - KEPT);
  const heights = leaving.map((c) => state.blocks[c].offsetHeight);
  leaving.forEach((c, i) => {
    state.blocks[c].style.height = `${heights[i]}px`;
    state.blocks[c].replaceChildren();
    state.built.delete(c);
  });
}

/**
 * Index of the block that contains the height `y`, or the nearest.
 * @param {HTMLElement[]} blocks
 * @param {number} y
 */
function blockAt(blocks, y) {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (blocks[middle].offsetTop <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * @param {TextState} state
 * @param {ShownMetric | null} metric
 */
function paint(state, metric) {
  state.metric = metric;
  each(state, (span) => {
    const wanted = tokenClass(state.model, metric, span.index);
    if (span.className !== wanted) span.className = wanted;
  });
}

/**
 * @param {TextState} state
 * @param {(span: TokenSpan) => void} visit
 */
function each(state, visit) {
  for (const spans of state.built.values()) spans.forEach(visit);
}

/**
 * @param {TextState} state
 * @param {number} i
 * @returns {TokenSpan | undefined}
 */
function spanOf(state, i) {
  const c = chunkOf(state.starts, i);
  return state.built.get(c)?.[i - state.starts[c]];
}

/**
 * @param {TextState} state
 * @param {number} i
 * @returns {Element}
 */
function reach(state, i) {
  if (state.model.folding.hiding(i) !== null) refold(state, i, () => state.model.folding.open(i));
  const c = chunkOf(state.starts, i);
  if (fill(state, c)) {
    joinLines(state, c, c);
    state.on.built();
  }
  return /** @type {TokenSpan} */ (spanOf(state, i));
}

/**
 * Scrolls to token `i` if it is out of sight (`top`: to the upper edge, always), without moving the page.
 * @param {TextState} state
 * @param {number} i
 * @param {boolean} top
 */
function bringToken(state, i, top) {
  const { box } = state;
  for (let tries = 0; tries < 3; tries += 1) {
    // The minimap moves over what is folded; a jump to a token opens it.
    const folded = top && state.model.folding.hiding(i) !== null;
    const token = (folded ? placeOf(state, i) : reach(state, i)).getBoundingClientRect();
    const view = box.getBoundingClientRect();
    const hidden = token.top < view.top || token.bottom > view.bottom;
    const move = top ? token.top - view.top - 12 : hidden ? token.top - view.top - view.height / 2 : 0;
    if (Math.abs(move) < 1) return;
    const before = box.scrollTop;
    box.scrollTop += move;
    if (box.scrollTop === before) return;
    build(state);
  }
}

/**
 * First and last token in sight, as indices; null before there is a layout.
 * @param {TextState} state
 * @returns {Match | null}
 */
function inView(state) {
  const { box, blocks } = state;
  if (blocks.length === 0 || box.clientHeight === 0) return null;
  return [tokenNear(state, box.scrollTop), Math.min(state.model.n - 1, tokenNear(state, box.scrollTop + box.clientHeight))];
}

/**
 * About which token stands at the height `y`; as near as a chunk's even filling tells.
 * @param {TextState} state
 * @param {number} y
 */
function tokenNear(state, y) {
  const { blocks, starts } = state;
  const c = blockAt(blocks, y);
  const share = Math.min(1, Math.max(0, (y - blocks[c].offsetTop) / Math.max(1, blocks[c].offsetHeight)));
  return Math.floor(starts[c] + share * (stopOf(state, c) - starts[c]));
}

/**
 * Chunks are blocks, between which a browser copies a line end; the response has none there.
 * @param {ClipboardEvent} event
 */
function copyText(event) {
  // A shadow root has a selection of its own in some browsers.
  const root = /** @type {Partial<Pick<Document, "getSelection">>} */ (/** @type {Node} */ (event.currentTarget).getRootNode());
  const selection = root.getSelection?.() ?? getSelection();
  if (selection === null || selection.rangeCount === 0 || selection.isCollapsed) return;
  const text = selection.getRangeAt(0).cloneContents().textContent;
  if (!text || event.clipboardData === null) return;
  event.clipboardData.setData("text/plain", text);
  event.preventDefault();
}
