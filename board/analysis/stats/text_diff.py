"""Diff of two texts, word by word, in bounded time.

Joining the runs of a text gives exactly that text back.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from rapidfuzz.distance import Indel

Side = Literal["both", "old", "new"]
Unit = Literal["word", "line", "text"]

MOST_PAIRS: Final = 400_000_000
"""Of more pairs of words, as two texts of 20,000 words without a common end have, the search would take seconds and a gigabyte: they are
compared by line; of more pairs of lines, not at all."""

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_SELECTORS: Final = "\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_PUNCTUATION: Final = r"!-/:-@\[-^`{-~\u2010-\u2027\u2030-\u205e\u3001-\u303f\uff01-\uff0f\uff1a-\uff20"

_WORD: Final = re.compile(rf"\s*(?:[{_CJK}][{_SELECTORS}]*|[^\s{_PUNCTUATION}{_CJK}]+|\S)|\s+")
"""A word with the white space before it: a Chinese, Japanese or Korean character, a punctuation mark, or a run of others."""

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class DiffSpan:
    """A stretch of text that is in both texts, or in the old or the new one alone."""

    side: Side
    text: str
    words: int
    folded: bool = False
    """Whether the number of words is shown at first, and the text only on request."""


@dataclass(frozen=True)
class Diff:
    """How a new text differs from an old one."""

    runs: tuple[DiffSpan, ...]
    """In reading order; where something was replaced, the old stands before the new."""
    unit: Unit
    """What was compared: words, lines where too many words differ, or nothing but the common beginning and end."""

    def words(self, side: Side) -> int:
        """How many words are on that side alone, or in both."""
        return sum(run.words for run in self.runs if run.side == side)


def words(text: str) -> list[str]:
    """The text cut into words, each with the white space before it; joined they are the text."""
    return _WORD.findall(text)


def compare(old: str, new: str, most_pairs: int = MOST_PAIRS) -> Diff:
    """The runs of two texts by words, with the fewest changes there can be (the longest common subsequence, Hyyrö 2004, by rapidfuzz).

    Beyond `most_pairs` it falls back to lines, and beyond that to the common beginning and end; `unit` says which.
    One word alone in common between longer changes counts as changed, so that different sentences do not fall into crumbs.
    """
    units: tuple[tuple[Unit, list[str], list[str]], ...] = (
        ("word", words(old), words(new)),
        ("line", _LINE.findall(old), _LINE.findall(new)),
    )
    _, a, b = units[0]
    head, tail = _ends(a, b)
    for unit, a, b in units:
        common = _common(a, b, most_pairs)
        if common is not None:
            stretches = _sides(a, b, common)
            found = Diff(tuple(_runs(_without_crumbs(stretches) if unit == "word" else stretches)), unit)
            if unit == "word" or found.words("both") >= head + tail:  # long texts may be of one line
                return found
    _, a, b = units[0]
    common_ends = [(at, at) for at in range(head)] + [(len(a) - at, len(b) - at) for at in range(tail, 0, -1)]
    return Diff(tuple(_runs(_sides(a, b, common_ends))), "text")


def _ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """How many words the two begin with in common, and how many of the rest they end with in common."""
    shorter = min(len(a), len(b))
    head = next((at for at in range(shorter) if a[at] != b[at]), shorter)
    tail = next((at for at in range(shorter - head) if a[-1 - at] != b[-1 - at]), shorter - head)
    return head, tail


def _common(a: Sequence[str], b: Sequence[str], most_pairs: int) -> list[tuple[int, int]] | None:
    """Positions of a longest common subsequence in both; None where finding it would take too long."""
    ends = sum(_ends(a, b))
    if (len(a) - ends) * (len(b) - ends) > most_pairs:
        return None
    codes = {unit: at for at, unit in enumerate(dict.fromkeys((*a, *b)))}  # rapidfuzz compares hashes, which these are their own
    blocks = Indel.opcodes([codes[unit] for unit in a], [codes[unit] for unit in b]).as_matching_blocks()
    return [(block.a + at, block.b + at) for block in blocks for at in range(block.size)]


_Stretch = tuple[Side, list[str]]


def _sides(a: Sequence[str], b: Sequence[str], common: Sequence[tuple[int, int]]) -> list[_Stretch]:
    """The units of both texts, each with its side; no side twice in a row."""
    each: list[tuple[Side, str]] = []
    at, bt = 0, 0
    for x, y in [*common, (len(a), len(b))]:
        each += [("old", word) for word in a[at:x]] + [("new", word) for word in b[bt:y]]
        if x < len(a):
            each.append(("both", a[x]))
        at, bt = x + 1, y + 1
    return [(side, [word for _, word in group]) for side, group in groupby(each, key=lambda one: one[0])]


def _without_crumbs(stretches: list[_Stretch]) -> list[_Stretch]:
    """One common word between changes of two or more words on either hand becomes a part of the change."""
    sizes = [len(stretch) for _, stretch in stretches]
    old: list[str] = []
    new: list[str] = []
    cleaned: list[_Stretch] = []

    def flush() -> None:
        cleaned.extend((side, list(changed)) for side, changed in (("old", old), ("new", new)) if changed)  # type: ignore[misc]
        old.clear()
        new.clear()

    for at, (side, stretch) in enumerate(stretches):
        if side == "both" and not (0 < at < len(stretches) - 1 and len(stretch) == 1 and min(sizes[at - 1], sizes[at + 1]) > 1):
            flush()
            cleaned.append((side, stretch))
            continue
        if side != "new":
            old += stretch
        if side != "old":
            new += stretch
    flush()
    return cleaned


def _runs(stretches: Sequence[_Stretch]) -> Iterator[DiffSpan]:
    for side, stretch in stretches:
        text = "".join(stretch)
        yield DiffSpan(side, text, _count(words(text)))


def _count(pieces: Sequence[str]) -> int:
    """How many are words: white space at the end of a text is none."""
    return sum(not piece.isspace() for piece in pieces)


def fold(runs: Sequence[DiffSpan], context: int = 12) -> list[DiffSpan]:
    """The runs with what is common folded but for `context` words around a change, where that hides more than `context` words."""
    folded: list[DiffSpan] = []
    for at, run in enumerate(runs):
        pieces = words(run.text) if run.side == "both" else []
        before = context if at else 0
        after = context if at < len(runs) - 1 else 0
        if len(pieces) <= before + after + context:
            folded.append(run)
            continue
        cut = len(pieces) - after
        parts = ((pieces[:before], False), (pieces[before:cut], True), (pieces[cut:], False))
        folded += [DiffSpan("both", "".join(part), _count(part), hide) for part, hide in parts if part]
    return folded
