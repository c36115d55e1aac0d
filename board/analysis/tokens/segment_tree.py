"""The segments of a response as a tree to fold.

`segments.find_segments` tiles the response by the innermost segment; here a think is one stretch again, with the code it holds inside.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from board.analysis.tokens.segments import Segment, is_blank


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
