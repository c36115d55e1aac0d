// What the keys of the token view do, in few words: for its own list and for that of the whole board.

export const KEYS = [
  ["← →", "token before, token after"],
  ["↑ ↓", "line above, line below"],
  ["Home End", "first token, last token"],
  ["n  p", "next, previous extreme token of the metric"],
  ["f  F", "fold the segment, all segments; again: unfold"],
  ["/", "search; Enter and Shift+Enter step"],
  ["g", "go to a position"],
  ["m", "next metric"],
  ["Enter", "pin the token; again: unpin"],
  ["Shift+Enter", "pin one more, to compare; Shift+click too"],
  ["t", "table of the tokens"],
  ["Esc", "unpin, close"],
  ["+ − 0", "zoom chart and heatmap in, out, to all tokens"],
  ["[ ]", "move chart and heatmap back, on"],
];
