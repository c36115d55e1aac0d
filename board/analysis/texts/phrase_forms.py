"""Forms of one phrase: n-grams that are pieces of a longer one in the same texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.texts.ngrams import Grams
from board.text.text_units import LONGEST_LINES, LONGEST_MARKS, Units

ALIKE: Final = 0.9
"""Two forms are of one phrase when of the texts that hold either so large a share holds both."""

NEARLY: Final = 0.95
"""A piece is left out where so large a share of its texts holds one and the same longer form."""

MOST_UNITS: Final = 40
"""A phrase is read on from its longest form no further."""


@dataclass(frozen=True)
class Phrase:
    """One phrase."""

    gram: int
    """Its longest form."""
    forms: tuple[int, ...]
    """The others that were found."""
    text: str
    """As it reads where it stands first."""
    times: int
    """How often a text holds it at least."""
    sample_row: int
    """A text that holds it."""


def expression(text: str, times: int = 1, *, bounded: bool = True) -> str:
    """A regular expression, as RE2 reads it, of a phrase that stands in a text so often at least; bounded: where no other letters touch it."""
    left, right = (
        r"\b" if bounded and letter.isascii() and (letter.isalnum() or letter == "_") else "" for letter in (text[:1], text[-1:])
    )
    found = left + re.escape(text).replace("\\\n", r"\n") + right
    return found if times == 1 else f"(?s:(?:{found}.*?){{{times}}})"


def whole(grams: Grams) -> NDArray[np.bool_]:
    """(g,): which n-grams are no mere piece of a longer one."""
    pieces = np.zeros(len(grams.lengths), bool)
    counts = grams.counts
    longer = np.flatnonzero(grams.lengths > 1)
    for part in (grams.prefixes[longer], grams.suffixes[longer]):
        pieces[part[counts[longer] >= NEARLY * counts[part]]] = True
    return ~pieces & grams.listable


def phrases(grams: Grams, units: Units, texts: Sequence[str], found: NDArray[np.int64]) -> list[Phrase]:
    """The n-grams `found`, the strongest first, as phrases, in the order given of their longest forms.

    Overlapping forms that the same texts hold are one phrase. So is a weaker one with a stronger of which it is a special case: its texts
    hold the stronger one too, and half of its units are of it.
    """
    folding = _Folding(grams, units, found, len(texts))
    order = np.lexsort([grams.first_at[found], -grams.times[found], -grams.lengths[found]])
    for at in order.tolist():  # of equally long ones side by side in their first text, so that each overlaps the one before
        folding.add(at, folding.same_as(at))
    same = {at: {folding.words[one] for one in forms} for at, forms in folding.folded.items()}
    for at in sorted(folding.folded):
        folding.add(at, folding.case_of(at))
    return [_phrase(grams, units, texts, int(found[at]), found[folding.folded[at]], same[at]) for at in sorted(folding.folded)]


class _Folding:
    """Which of the n-grams found are forms of which."""

    def __init__(self, grams: Grams, units: Units, found: NDArray[np.int64], texts: int) -> None:
        self._held = _held(grams, found, texts)
        self._counts = self._held.sum(axis=1)
        self._repeated = grams.times[found] > 1
        self.words = [_hashes(grams, units, gram) for gram in found.tolist()]
        self.folded: dict[int, list[int]] = {}
        self._units: dict[int, set[int]] = {}

    def add(self, at: int, into: int | None) -> None:
        """Keep one as it is, or with all that was added to it as a form of another."""
        if into is None:
            self.folded.setdefault(at, [])
            self._units.setdefault(at, set(self.words[at]))
        else:
            self.folded[into] += [at, *self.folded.pop(at, [])]
            self._units[into] |= self._units.pop(at, set(self.words[at]))

    def same_as(self, at: int) -> int | None:
        """Which phrase so far, that overlaps it, is held by the same texts: the most alike."""
        least, most = ALIKE * self._counts, self._counts / ALIKE
        near = [
            one
            for one in self.folded
            if least[one] <= self._counts[at] <= most[one]
            and self._repeated[one] == self._repeated[at]
            and not self._units[one].isdisjoint(self.words[at])
        ]
        if not near:
            return None
        both = self._held[near] @ self._held[at]
        alike = both / (self._counts[near] + self._counts[at] - both)
        best = int(np.argmax(alike))
        return near[best] if alike[best] >= ALIKE else None

    def case_of(self, at: int) -> int | None:
        """Which stronger phrase so far it is a special case of."""
        own = set(self.words[at])
        for one in sorted(self.folded):
            if one >= at:
                return None
            shared = len(own & self._units[one])
            near = len(self.words[one]) > 1 and 2 * shared >= len(own) and self._repeated[one] == self._repeated[at]
            if near and self._held[one] @ self._held[at] >= NEARLY * self._counts[at]:
                return one
        return None


def _held(grams: Grams, found: NDArray[np.int64], texts: int) -> NDArray[np.float32]:
    held = np.zeros((len(found), texts), np.float32)
    for at, gram in enumerate(found.tolist()):
        held[at, grams.held_by(gram)] = 1
    return held


def _hashes(grams: Grams, units: Units, gram: int) -> tuple[int, ...]:
    first = int(grams.first_at[gram])
    return tuple(units.hashes[first : first + int(grams.lengths[gram])].tolist())


def _phrase(
    grams: Grams, units: Units, texts: Sequence[str], gram: int, forms: NDArray[np.int64], same: set[tuple[int, ...]]
) -> Phrase:
    """`same` are the forms, as hashes of their units, that the same texts hold."""
    begin, times = int(grams.first_at[gram]), int(grams.times[gram])
    row = int(np.searchsorted(units.offsets, begin, side="right")) - 1
    end = begin + int(grams.lengths[gram])
    if times == 1:
        begin, end = _read_on(units, row, begin, end, same)
    text = texts[row][int(units.starts[begin]) : _last(units, texts[row], end - 1, alone=end - begin == 1)]
    return Phrase(gram, tuple(forms.tolist()), text, times, int(grams.held_by(gram)[0]))


def _read_on(units: Units, row: int, begin: int, end: int, forms: set[tuple[int, ...]]) -> tuple[int, int]:
    """As far as to either side one of the forms goes on with another unit."""
    lengths = {len(form) for form in forms}
    first, last = int(units.offsets[row]), int(units.offsets[row + 1])

    def is_form(start: int, stop: int) -> bool:
        return tuple(units.hashes[start:stop].tolist()) in forms

    while end < last and end - begin < MOST_UNITS and any(is_form(end + 1 - length, end + 1) for length in lengths):
        end += 1
    while begin > first and end - begin < MOST_UNITS and any(is_form(begin - 1, begin - 1 + length) for length in lengths):
        begin -= 1
    return begin, end


def _last(units: Units, text: str, at: int, *, alone: bool) -> int:
    """Where a phrase ends in its text: a run of marks that counts as one of any length ends with the last mark."""
    start, stop = int(units.starts[at]), int(units.stops[at])
    piece = text[start:stop]
    if alone and not piece.strip():
        return min(stop, start + LONGEST_LINES)
    return min(stop, start + LONGEST_MARKS) if alone and len(set(piece)) == 1 and not piece.isalnum() else stop
