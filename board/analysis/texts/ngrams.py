"""Frequent n-grams of texts: of 1 to 5 words, or 2 to 6 characters of unspaced scripts.

An n-gram is frequent only where both (n-1)-grams in it are, so that each length looks at what the one before left. Presence counts, not how
often a text repeats it; that a text holds marks or ends of lines at least 2, 4, 8, ... times is a form of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.text.text_units import Units

MOST_WORDS: Final = 5
MOST_CHARACTERS: Final = 6

REPEATS: Final = (2, 4, 8, 16, 32)
"""So often, or more, one or two units of which one is a mark or the end of a line stand in a text."""

_HALF: Final = 32
_LOWER: Final = (1 << _HALF) - 1


@dataclass(frozen=True)
class Grams:
    """The frequent n-grams of some texts: g of them, shorter ones first, each held by some texts: p pairs."""

    lengths: NDArray[np.int64]
    """(g,): units."""
    first_at: NDArray[np.int64]
    """(g,): the unit at which one begins for the first time, counted through all texts."""
    prefixes: NDArray[np.int64]
    """(g,): the n-gram without its last unit, of what is repeated the same half as often; -1 for a single unit."""
    suffixes: NDArray[np.int64]
    """(g,): the n-gram without its first unit, likewise."""
    times: NDArray[np.int64]
    """(g,): how often a text holds it at least."""
    listable: NDArray[np.bool_]
    """(g,): False for what only longer ones are made of: a single character of a script without spaces."""
    texts: NDArray[np.int32]
    """(p,): the texts that hold each, rising, n-gram by n-gram."""
    starts: NDArray[np.int64]
    """(g + 1,): n-gram i is held by the texts from `starts[i]` to before the next."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """(g,): how many texts hold each."""
        return np.diff(self.starts)

    def held_by(self, gram: int) -> NDArray[np.int32]:
        """The texts that hold an n-gram."""
        return self.texts[self.starts[gram] : self.starts[gram + 1]]

    def chosen(self, which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Pairs of those n-grams alone: the place of each in `which`, and the text; n-gram by n-gram."""
        counts = self.counts[which]
        of = np.repeat(np.arange(len(which)), counts)
        within = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        return of, self.texts[self.starts[which][of] + within]


@dataclass(frozen=True)
class _OfLength:
    """The frequent n-grams of one length, m of them."""

    ids: NDArray[np.int64]
    """(u,): which of them begins at each unit, -1 for none."""
    first_at: NDArray[np.int64]
    """(m,)"""
    texts: NDArray[np.int32]
    of: NDArray[np.int64]
    """Pairs as those of Grams, ordered by n-gram."""
    times: NDArray[np.int64]
    """How often each pair's text holds the n-gram."""


def frequent(units: Units, least: int) -> Grams:
    """The n-grams that at least `least` texts hold."""
    text_of = np.repeat(np.arange(len(units.offsets) - 1, dtype=np.int64), np.diff(units.offsets))
    levels = list(_levels(units, text_of, least))
    firsts = np.concatenate([[0], np.cumsum([len(level.first_at) for level in levels])])
    joined = [_plain(level, at, levels, firsts) for at, level in enumerate(levels)]
    count = int(firsts[-1])
    for at, level in enumerate(levels[:2]):
        for repeated in _repeated(level, at, units, least, int(firsts[at]), count):
            joined.append(repeated)
            count += len(repeated.lengths)
    return _end_to_end(joined, units)


def _end_to_end(joined: list["_Forms"], units: Units) -> Grams:
    lengths, first_at, prefixes, suffixes, times, texts, counts = (
        np.concatenate([getattr(one, name) for one in joined])
        for name in ("lengths", "first_at", "prefixes", "suffixes", "times", "texts", "counts")
    )
    listable = (lengths > 1) | ~units.unspaced[first_at]
    return Grams(lengths, first_at, prefixes, suffixes, times, listable, texts, np.concatenate([[0], np.cumsum(counts)]))


@dataclass(frozen=True)
class _Forms:
    """n-grams of one length and of one number of times, m of them, as Grams has them."""

    lengths: NDArray[np.int64]
    first_at: NDArray[np.int64]
    prefixes: NDArray[np.int64]
    suffixes: NDArray[np.int64]
    times: NDArray[np.int64]
    texts: NDArray[np.int32]
    counts: NDArray[np.int64]


def _plain(level: _OfLength, at: int, levels: list[_OfLength], firsts: NDArray[np.int64]) -> _Forms:
    number = len(level.first_at)
    prefixes, suffixes = (
        levels[at - 1].ids[level.first_at + shift] + firsts[at - 1] if at else np.full(number, -1) for shift in (0, 1)
    )
    counts = np.bincount(level.of, minlength=number)
    lengths, times = np.full(number, at + 1), np.ones(number, np.int64)
    return _Forms(lengths, level.first_at, prefixes, suffixes, times, level.texts, counts)


def _repeated(level: _OfLength, at: int, units: Units, least: int, first: int, count: int) -> Iterator[_Forms]:
    """What texts hold several times. `first` is the number of the level's first n-gram, `count` that of the first which is found here."""
    marked = np.logical_or.reduce([units.marks[level.first_at + shift] for shift in range(at + 1)])
    forms = np.arange(first, first + len(level.first_at))  # by n-gram its form of half as many times
    for times in REPEATS:
        chosen = (level.times >= times) & marked[level.of]
        counts = np.bincount(level.of[chosen], minlength=len(forms))
        enough = counts >= least
        chosen &= enough[level.of]
        number = int(enough.sum())
        if not number:
            return
        halves = forms[enough]
        yield _Forms(
            np.full(number, at + 1),
            level.first_at[enough],
            halves,
            halves,
            np.full(number, times),
            level.texts[chosen],
            counts[enough],
        )
        forms[enough] = count + np.arange(number)
        count += number


def _levels(units: Units, text_of: NDArray[np.int64], least: int) -> Iterator[_OfLength]:
    ids, _ = pd.factorize(units.hashes)
    at = np.flatnonzero(~units.gaps)
    level = _of_length(at, ids[at].astype(np.int64), text_of, least)
    yield level
    unspaced = np.concatenate([[0], np.cumsum(units.unspaced)])
    for length in range(2, MOST_CHARACTERS + 1):
        here, after = level.ids[:-1], level.ids[1:]
        at = np.flatnonzero((here >= 0) & (after >= 0) & (text_of[:-1] == text_of[1:]))
        if length > MOST_WORDS:
            at = at[unspaced[at + length] - unspaced[at] == length]
        level = _of_length(at, here[at] << _HALF | after[at], text_of, least)
        if not len(level.first_at):
            return
        yield level


def _of_length(at: NDArray[np.int64], keys: NDArray[np.int64], text_of: NDArray[np.int64], least: int) -> _OfLength:
    """Those n-grams frequent enough of the ones that begin at the units `at`, equal where their `keys` are."""
    codes = pd.factorize(keys)[0].astype(np.int64)
    pairs = np.sort(codes << _HALF | text_of[at])
    begins = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)])
    times = np.diff(np.append(begins, len(pairs)))
    pairs = pairs[begins]
    counts = np.bincount(pairs >> _HALF)
    enough = counts >= least
    numbers = np.where(enough, np.cumsum(enough) - 1, -1)
    ids = np.full(len(text_of), -1)
    ids[at] = numbers[codes]
    first_at = np.full(len(counts), -1)
    first_at[codes[::-1]] = at[::-1]
    own = enough[pairs >> _HALF]
    pairs = pairs[own]
    return _OfLength(ids, first_at[enough], (pairs & _LOWER).astype(np.int32), numbers[pairs >> _HALF], times[own])
