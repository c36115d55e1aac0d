"""Segments of a response, found in its tokens by the usual tags and chat markers.

Needs no tokenizer: markers are searched for in the joined tokens, so one may be split over several, and as they are ASCII the byte
alphabets of GPT-2 and sentencepiece do not hide them.

The rules, where models leave the grammar:

- Segments nest, a token belongs to the innermost; a token that two share belongs to the one its first character is in.
- A tag is closed by its own closing tag, which closes whatever is still open in it; the same tag within itself is only mentioned.
- What is never closed goes on to the end of its turn, or of the response, and its label says so.
- `</think>` with no `<think>` before it in the turn closes a think that the prompt opened: it begins where the turn does.
- In a code fence only its own end, the end of a tag around it and a new turn are seen; anything else is code.
- A turn lasts to its end marker or to the next turn; any other closing marker without an opening one is text.

`find_segments` tiles the response by the innermost segment; in `outline` a think is one stretch again, with the code it holds inside.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.formats.chat import chat, is_sampled, messages_in
from board.metrics import formulas
from board.text.token_decoding import bytes_of, codec_of

Kind = Literal["text", "think", "answer", "tool call", "tool response", "code", "turn"]

_TAGS: Final[dict[Kind, str]] = {
    "think": "think|thinking|thought|reasoning",
    "answer": "answer|solution",
    "tool call": "tool_calls?|function_calls?|search",
    "tool response": (
        "(?:tool|function|code|execution|search)_(?:response|result|output)s?|information|observation|interpreter|results?"
    ),
}
"""Names of tags: of the reasoning models, of tool use as Qwen and Hermes write it, of Search-R1, ReSearch, ReTool and DeepSeek."""

_RESULTS: Final = ("result", "results")
"""What these hold is a tool's behind a call or code, else the policy's own."""

_NAMES: Final = "|".join(_TAGS.values())
_MARKER: Final = re.compile(
    r"(?P<fence>`{3,})(?P<language>[A-Za-z][A-Za-z0-9+#.-]{0,20})?"
    rf"|<(?P<close>/?)(?P<tag>{_NAMES})(?:[\sĠ▁][^<>]{{0,200}})?>"
    r"|<[|｜](?P<special>tool[▁_](?:call|output|response|result)s?)[▁_](?:(?:begin|start)|(?P<last>end))[|｜]>"
    r"|<(?:\|im_start\||\|start\||start_of_turn|\|(?:start_header_id|header_start)\|)>[ Ġ▁]?(?P<role>[A-Za-z_]{1,32})?"
    r"(?:<\|(?:end_header_id|header_end)\|>)?"
    r"|<[|｜](?P<bar>[Ss]ystem|[Uu]ser|[Aa]ssistant|tool|observation)[|｜]>"
    r"|(?P<inst>\[INST\])"
    r"|(?P<end><\|(?:im_end|eot_id|eom_id|end)\|>|<end_of_turn>|\[/INST\])"
)


@dataclass(frozen=True)
class Segment:
    """A stretch of tokens, both ends included."""

    kind: Kind
    label: str
    """Where it sits, from the outside in: "assistant › think › code python"; "think, not closed" where its end is missing."""
    first: int
    last: int


@dataclass(eq=False)
class _Node:
    """A segment while it is being read; it may have several stretches, with others between them."""

    kind: Kind
    name: str
    parent: "_Node | None" = None
    tag: str = ""
    """What closes it: the tag's name, or the fence."""
    closed: bool = False

    @property
    def label(self) -> str:
        own = self.name if self.closed or self.kind in ("text", "turn") else f"{self.name}, not closed"
        outer = self.parent.label if self.parent and self.parent.parent else ""
        return f"{outer.removesuffix(', not closed')} › {own}" if outer else own


class _Reader:
    """Walks over the markers of a text, keeping what is open; `cuts` has from which character on which node it is."""

    def __init__(self) -> None:
        self.root = _Node("text", "text")
        self.open = [self.root]
        self.cuts: list[tuple[int, _Node]] = [(0, self.root)]
        self._begin_turn()

    def read(self, text: str) -> list[tuple[int, _Node]]:
        """Where in the text each stretch begins, and what it is; the first begins at 0."""
        for marker in _MARKER.finditer(text):
            if marker["fence"]:
                self._fence(marker)
            elif tag := (marker["tag"] or marker["special"] or "").replace("▁", "_"):
                kind = next(kind for kind, names in _TAGS.items() if re.fullmatch(names, tag))
                if tag in _RESULTS and not any(node.kind in ("tool call", "code") for _, node in self.cuts):
                    kind = "answer"
                (self._close_tag if marker["close"] or marker["last"] else self._open_tag)(marker, tag, kind)
            elif marker["end"]:
                self._end_turn(marker.end())
            else:
                role = marker["role"] or marker["bar"] or ("user" if marker["inst"] else "turn")
                self._end_turn(marker.start())
                self._push(_Node("turn", role.lower(), closed=True), marker.start())
                self._begin_turn()
        return self.cuts

    def _begin_turn(self) -> None:
        self.turn = self.open[-1]
        self.turn_from = len(self.cuts) - 1
        self.thought = False

    def _push(self, node: _Node, at: int) -> None:
        node.parent = self.open[-1]
        self.open.append(node)
        self.cuts.append((at, node))

    def _pop_to(self, depth: int, at: int) -> None:
        del self.open[depth:]
        self.cuts.append((at, self.open[-1]))

    def _end_turn(self, at: int) -> None:
        if len(self.open) > 1:
            self._pop_to(1, at)
        self._begin_turn()

    def _fence(self, marker: re.Match[str]) -> None:
        inside = self.open[-1]
        if inside.kind != "code":
            self._push(_Node("code", f"code {marker['language'] or ''}".rstrip(), tag=marker["fence"]), marker.start())
        elif not marker["language"] and len(marker["fence"]) >= len(inside.tag):
            inside.closed = True
            self._pop_to(len(self.open) - 1, marker.end())

    def _open_tag(self, marker: re.Match[str], tag: str, kind: Kind) -> None:
        if self.open[-1].kind == "code" or any(node.kind == kind for node in self.open):
            return
        self.thought = self.thought or kind == "think"
        self._push(_Node(kind, kind, tag=tag), marker.start())

    def _close_tag(self, marker: re.Match[str], tag: str, kind: Kind) -> None:
        depth = next((at for at, node in enumerate(self.open) if node.tag == tag), None)
        if depth is not None:
            self.open[depth].closed = True
            self._pop_to(depth, marker.end())
        elif kind == "think" and not self.thought and self.open[-1].kind != "code":
            self._close_think_of_prompt(marker.end())

    def _close_think_of_prompt(self, end: int) -> None:
        """Everything of this turn so far becomes a think, and what stood in the turn stands in it."""
        think = _Node("think", "think", parent=self.turn, closed=True)
        for at in range(self.turn_from, len(self.cuts)):
            start, node = self.cuts[at]
            if node is self.turn:
                self.cuts[at] = (start, think)
            elif node.parent is self.turn:
                node.parent = think
        self.thought = True
        self._pop_to(self.open.index(self.turn) + 1, end)


def find_segments(tokens: Sequence[str]) -> list[Segment]:
    """The segments of a response; they tile its tokens in order: none missing, none twice. Empty for no tokens.

    Linear in the number of characters.
    """
    if not tokens:
        return []
    starts = np.concatenate([[0], np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))])[:-1]
    cuts = _Reader().read("".join(tokens))
    firsts = np.searchsorted(starts, [at for at, _ in cuts]).tolist()
    stretches: list[tuple[_Node, int, int]] = []
    for (_, node), first, end in zip(cuts, firsts, [*firsts[1:], len(tokens)], strict=True):
        if first == end:
            continue
        if stretches and stretches[-1][0] is node:
            stretches[-1] = (node, stretches[-1][1], end)
        else:
            stretches.append((node, first, end))
    return [Segment(node.kind, node.label, first, end - 1) for node, first, end in stretches]


_OTHERS: Final = frozenset({"tool", "user", "human", "system", "observation", "function", "functions", "ipython", "environment"})
"""Roles that are not the policy's."""
_MARKS: Final = ("<", "[INST", "```output")
"""Without these there is nothing to read."""
_COUNTS: Final = ("tokens", "num_tokens", "n_tokens", "token_count", "length")
"""Keys of how many tokens a turn has."""
_HEAD: Final = re.compile("(?m)^([a-z_]{2,20}):$")
"""What stands above a turn in a response that was a list of messages."""


def of_others(tokens: Sequence[str], response: str | None, turns: str | None, *, guessed: bool) -> list[tuple[int, int]]:
    """Stretches (first, behind the last) that others than the policy wrote: by tags and roles, else by `turns`, a row's field, or its response.

    A role's marker alone at the end is how some models end their own turn, and the policy's. `guessed`: a fence named output is a tool's, too,
    though some policies write it themselves.
    """
    whole = "".join(tokens)
    found = [
        (one.first, one.last + 1)
        for one in (find_segments(tokens) if any(mark in whole for mark in _MARKS) else ())
        if one.kind == "tool response" or one.label.partition(" ›")[0] in _OTHERS or (guessed and "code output" in one.label)
    ]
    found = [one for one in found if one[0] < len(tokens) - 1]
    messages = messages_in(turns) or []
    counts = [next((size for name, size in one.items() if name in _COUNTS), None) for one in messages]
    if found or not messages or None in counts:
        return found or _of_texts(tokens, chat(messages) or response or "")
    ends = np.cumsum([0, *counts]).tolist()
    return [(a, b) for one, (a, b) in zip(messages, pairwise(ends), strict=True) if not is_sampled(one)]


def _of_texts(tokens: Sequence[str], dialogue: str) -> list[tuple[int, int]]:
    """Those of turns, each below its role, whose texts stand in the tokens in their order."""
    codec = codec_of(tokens)
    shown = [re.sub(r"\s", "", bytes_of(codec, one).decode(errors="ignore")) for one in tokens] if _HEAD.match(dialogue) else []
    whole, ends, at, found = "".join(shown), np.cumsum([*map(len, shown)]), 0, list[tuple[int, int]]()
    parts = _HEAD.split(dialogue)[1:]
    for role, text in zip(parts[::2], parts[1::2], strict=True):
        piece = re.sub(r"\s", "", text)
        begin = whole.find(piece, at)
        if piece and begin >= 0:
            at = begin + len(piece)
            if role in _OTHERS:
                found.append((int(np.searchsorted(ends, begin, "right")), int(np.searchsorted(ends, at)) + 1))
    return found


_BLANK: Final = " \t\r\n\u0120\u010a\u2581"
"""White space, and the letters that byte-level names and sentencepiece write for it."""


def is_blank(segment: Segment, tokens: Sequence[str]) -> bool:
    """Text of nothing but white space, in the letters of byte-level names and of sentencepiece too."""
    return segment.kind == "text" and not any(tokens[i].strip(_BLANK) for i in range(segment.first, segment.last + 1))


def join_blanks(segments: Sequence[Segment], tokens: Sequence[str]) -> list[Segment]:
    """The tiling with the white space between two segments in the one before; what stands at the very start stays text."""
    joined: list[Segment] = []
    for segment in segments:
        if joined and is_blank(segment, tokens):
            joined[-1] = replace(joined[-1], last=segment.last)
        else:
            joined.append(segment)
    return joined


_COLUMNS: Final[tuple[tuple[str, str, Literal["sum", "mean"]], ...]] = (
    ("kl, sum", "kl", "sum"),
    ("kl, mean", "kl", "mean"),
    ("entropy, mean", "entropy", "mean"),
    ("advantage, sum", "advantage", "sum"),
)


def roll_up(
    segments: Sequence[Segment],
    arrays: Mapping[str, NDArray[np.floating[Any]]],
    counts: NDArray[np.bool_],
    pads: NDArray[np.bool_],
) -> pd.DataFrame:
    """One row per segment that is more than padding: segment (label), first (position, 0-based), tokens, masked, then metrics.

    `arrays` are token metrics by screen name, shape (T,); `counts` and `pads` (T,). `tokens` are those that count, `masked` those
    that neither count nor pad. Only tokens that count and have a finite number enter a metric; without one it is NaN.
    "value, change" is the last such value less the first, NaN for fewer than two. A metric that is not in `arrays` has no column.
    """
    offsets = np.array([*(segment.first for segment in segments), segments[-1].last + 1 if segments else 0])
    table = pd.DataFrame({"segment": [segment.label for segment in segments], "first": offsets[:-1]})
    table["tokens"] = _count(counts, offsets)
    table["masked"] = _count(~counts & ~pads, offsets)
    for column, name, statistic in _COLUMNS:
        if name in arrays:
            table[column] = getattr(formulas.segment_stats(arrays[name], offsets, counts), statistic)
    if "value" in arrays:
        table["value, change"] = _change(np.asarray(arrays["value"], np.float64), offsets, counts)
    return table[table["tokens"] + table["masked"] > 0].reset_index(drop=True)


def _count(mask: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many are true in each segment."""
    return np.diff(np.concatenate([[0], np.cumsum(mask)])[offsets])


def _change(values: NDArray[np.float64], offsets: NDArray[np.int64], counts: NDArray[np.bool_]) -> NDArray[np.float64]:
    entering = np.flatnonzero(np.isfinite(values) & counts)
    low, high = np.searchsorted(entering, offsets[:-1]), np.searchsorted(entering, offsets[1:])
    change = np.full(len(offsets) - 1, np.nan)
    several = high - low > 1
    change[several] = values[entering[high[several] - 1]] - values[entering[low[several]]]
    return change


@dataclass(frozen=True)
class SegmentNode:
    """A segment with all that is nested in it: tokens `first` to before `stop`, counted from 0; `depth` 0 is the outermost."""

    first: int
    stop: int
    depth: int
    label: str
    """Its own name, without those it sits in: "think", "code python", "think, not closed"."""


def outline(segments: Sequence[Segment], tokens: Sequence[str]) -> list[SegmentNode]:
    """The stretches of `segments`, as `find_segments` tiles `tokens` with them, outer before inner, in the order of the response.

    Line ends between two segments belong to the one before. A response that is nothing but text has no stretch: there is nothing
    to tell apart. Linear in tokens and in segments times depth.
    """
    segments = [segment for segment in segments if not is_blank(segment, tokens)]
    if all(segment.kind == "text" for segment in segments):
        return []
    done: list[SegmentNode] = []
    open_: list[tuple[str, int, str]] = []
    for segment in segments:
        path = _path(segment.label)
        shared = _shared([name for name, _, _ in open_], [name for name, _ in path])
        # Two tiles of one path are two segments: of one, the tiling would have made one tile.
        shared -= shared == len(path) == len(open_)
        done += _closed(open_, shared, segment.first)
        del open_[shared:]
        open_ += [(name, segment.first, label) for name, label in path[shared:]]
    done += _closed(open_, 0, len(tokens))
    return sorted(done, key=lambda stretch: (stretch.first, stretch.depth))


def _path(label: str) -> list[tuple[str, str]]:
    """Names from the outside in, and how each is labelled: outer ones have no word on whether they are closed."""
    names = label.split(" › ")
    return [(name.removesuffix(", not closed"), name) for name in names]


def _shared(one: list[str], other: list[str]) -> int:
    """How many names from the outside in are the same."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _closed(open_: list[tuple[str, int, str]], depth: int, stop: int) -> list[SegmentNode]:
    return [SegmentNode(first, stop, depth + i, label) for i, (_, first, label) in enumerate(open_[depth:])]
