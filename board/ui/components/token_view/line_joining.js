// Chunks of one line: a block begins a line of its own, so one that goes on in the line of the block before is drawn up into it,
// indented by what stands there already. Otherwise the response would be broken where it has no line end.

/** @import { TextState } from "./view_types" */

/** Less room than this at the end of a line holds no word: the next block then begins a line, as the word would. */
const LEAST_ROOM = 24;

/**
 * Lets each built chunk from `first` to `last`, and those after it that move with it, begin where the chunk before it ends. A chunk whose
 * predecessor was never built begins a line until it is. `state` is that of text.js.
 * @param {TextState} state
 * @param {number} first
 * @param {number} last
 */
export function joinLines(state, first, last) {
  const { blocks, built, starts, model } = state;
  // A folded chunk has no spans: it is a line of its own.
  /** @param {number} c */
  const drawn = (c) => (built.get(c)?.length ?? 0) > 0;
  for (let c = Math.max(1, first); c < blocks.length; c += 1) {
    const moved = drawn(c) && drawn(c - 1) && !model.texts.endsLine(starts[c] - 1) && indent(blocks[c], lineEnd(state, c - 1));
    if (c > last && !moved) return;
  }
}

/**
 * Draws a block up into a line of which `used` pixels are taken (0: none); false when it stands so already.
 * @param {HTMLElement} block
 * @param {number} used
 */
function indent(block, used) {
  const wanted = used > 0 ? `${used}px` : "";
  if (block.style.textIndent === wanted) return false;
  block.style.textIndent = wanted;
  block.toggleAttribute("data-goes-on", used > 0);
  return true;
}

/**
 * Where the last line of a chunk ends, in whole pixels from its left edge; 0 when no word would fit behind it.
 * @param {TextState} state
 * @param {number} c
 */
function lineEnd({ blocks, built }, c) {
  const spans = built.get(c) ?? [];
  const boxes = spans[spans.length - 1].getClientRects();
  const block = blocks[c].getBoundingClientRect();
  const used = boxes.length === 0 ? 0 : boxes[boxes.length - 1].right - block.left;
  return block.width - used < LEAST_ROOM ? 0 : Math.round(used * 64) / 64;
}
