"""Text cut into units of phrases: words, unspaced characters, runs of a mark, line ends.

All texts at once, by their code points.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.text.code_points import PLANE, held

GAP: Final = "\x00"
"""Stands for text that was left out: no phrase goes over it."""

_SPACE, _LINE, _WORD, _UNSPACED, _MARK, _GAP = range(6)

_UNSPACED_SCRIPTS: Final = r"[\p{Thai}\p{Lao}\p{Myanmar}\p{Khmer}\p{Hiragana}\p{Katakana}\p{Han}ーｰ々〆〇]"
"""What stands without spaces between words."""

_JOINERS: Final = (0x200B, 0x200C, 0x200D, 0xFEFF, *range(0xFE00, 0xFE10))
"""Invisible: they select how a mark is drawn, and are passed over."""

_APOSTROPHES: Final = (0x27, 0x2019)

LONGEST_MARKS: Final = 4
"""This many of a mark in a row, and more, are one unit: a rule of 40 hyphens is as one of 50."""
LONGEST_LINES: Final = 2
"""An empty line is as several."""

_AT_ONCE: Final = 1_000_000
"""Characters that are cut at once; a longer text is cut by itself."""

_MULTIPLIER: Final = 0x9E3779B97F4A7C15
_MIXER: Final = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True)
class Units:
    """The units of some texts, end to end: u of them, of n texts."""

    offsets: NDArray[np.int64]
    """(n + 1,): text i has the units from `offsets[i]` to before the next."""
    starts: NDArray[np.int32]
    """(u,): the character of its text at which a unit begins."""
    stops: NDArray[np.int32]
    """(u,): the character behind it."""
    hashes: NDArray[np.uint64]
    """(u,): equal for equal units, and for runs of a mark or of line ends that are equally long or long enough."""
    unspaced: NDArray[np.bool_]
    """(u,): characters of a script without spaces."""
    marks: NDArray[np.bool_]
    """(u,): marks and ends of lines: what a text is set with."""
    gaps: NDArray[np.bool_]
    """(u,): what stands for text that was left out."""


def cut(texts: Sequence[str]) -> Units:
    """The units of texts, in which no half of a surrogate pair may be."""
    pieces = [_cut("".join(batch), [len(text) for text in batch]) for batch in _batches(texts)]
    counts = np.concatenate([np.zeros(1, np.int64), *(piece.offsets[1:] - piece.offsets[:-1] for piece in pieces)])
    return Units(
        np.cumsum(counts),
        *(
            np.concatenate([np.zeros(0, kind), *(getattr(piece, name) for piece in pieces)])
            for name, kind in (
                ("starts", np.int32),
                ("stops", np.int32),
                ("hashes", np.uint64),
                ("unspaced", np.bool_),
                ("marks", np.bool_),
                ("gaps", np.bool_),
            )
        ),
    )


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > _AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _cut(joined: str, lengths: Sequence[int]) -> Units:
    """The units of texts that lie end to end."""
    points = np.frombuffer(joined.encode("utf-32-le"), "<u4")
    bounds = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    kinds = _with_apostrophes(points, _kinds()[points])
    begins = _begins(points, kinds, bounds)
    firsts = np.flatnonzero(begins)
    stops = np.append(firsts[1:], len(points))
    held = kinds[firsts] != _SPACE
    firsts, stops = firsts[held], stops[held]
    of_unit = kinds[firsts]
    longest = np.where(of_unit == _MARK, LONGEST_MARKS, np.where(of_unit == _LINE, LONGEST_LINES, len(points)))
    offsets = np.searchsorted(firsts, bounds)
    before = np.repeat(bounds[:-1], np.diff(offsets))
    return Units(
        offsets,
        (firsts - before).astype(np.int32),
        (stops - before).astype(np.int32),
        _hashes(np.where(kinds == _LINE, ord("\n"), points), firsts, np.minimum(stops, firsts + longest)),
        of_unit == _UNSPACED,
        (of_unit == _MARK) | (of_unit == _LINE),
        of_unit == _GAP,
    )


def _with_apostrophes(points: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """An apostrophe between two letters is a letter."""
    straight, curly = _APOSTROPHES
    at = np.flatnonzero((points == straight) | (points == curly))
    at = at[(at > 0) & (at < len(points) - 1)]
    kinds[at[(kinds[at - 1] == _WORD) & (kinds[at + 1] == _WORD)]] = _WORD
    return kinds


def _begins(points: NDArray[np.uint32], kinds: NDArray[np.uint8], bounds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a unit, or what lies between units, begins. (characters,)"""
    begins = np.ones(len(points), bool)
    same = kinds[1:] == kinds[:-1]
    alike = (kinds[1:] != _UNSPACED) & ((kinds[1:] != _MARK) | (points[1:] == points[:-1]))
    begins[1:] = ~(same & alike)
    begins[bounds[:-1][np.diff(bounds) > 0]] = True
    return begins


def _hashes(points: NDArray[np.uint32], firsts: NDArray[np.int64], stops: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A polynomial of the code points of each stretch, modulo 2^64, mixed: differences of sums of the whole, moved to where it begins."""
    powers, inverses = _powers(1 << max(_AT_ONCE, len(points)).bit_length())
    sums = np.zeros(len(points) + 1, np.uint64)
    np.cumsum((points.astype(np.uint64) + np.uint64(1)) * powers[: len(points)], out=sums[1:])
    found = (sums[stops] - sums[firsts]) * inverses[firsts]
    mixed: NDArray[np.uint64] = (found ^ (found >> np.uint64(32))) * _MIXER
    return mixed


@lru_cache(maxsize=1)
def _powers(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The first `count` powers of the multiplier modulo 2^64, and of its inverse."""
    factors = (_MULTIPLIER, pow(_MULTIPLIER, -1, 2**64))
    first, second = (
        np.multiply.accumulate(np.concatenate([np.ones(1, np.uint64), np.full(count - 1, factor, np.uint64)]))
        for factor in factors
    )
    return first, second


@cache
def _kinds() -> NDArray[np.uint8]:
    """What each code point is."""
    kinds = np.full(sys.maxunicode + 1, _MARK, np.uint8)
    kinds[np.flatnonzero(held(r"[\p{L}\p{M}\p{N}_]", 2 * PLANE))] = _WORD
    kinds[np.flatnonzero(held(_UNSPACED_SCRIPTS))] = _UNSPACED
    kinds[2 * PLANE : 4 * PLANE] = _UNSPACED  # ideographs
    kinds[[point for point in range(0x3001) if chr(point).isspace()]] = _SPACE
    kinds[[0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029]] = _LINE
    kinds[[*_JOINERS]] = _SPACE
    kinds[ord(GAP)] = _GAP
    return kinds
