"""Summaries of many rollouts' tokens by one metric: distribution, profile, extremes.

Flat arrays in, a few numbers per group of rollouts out, and summaries of parts of a group add up to that of the whole. Masked tokens and
pads enter nothing.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import BoolArray, Float64Array, FloatArray, IntArray
from board.schema import Extreme

RELATIVE: Final = 50
"""Bins of a response from its first counted token to its last."""
ENDS: Final = 64
"""This many tokens from either end have a bin of their own."""
PLACES: Final = RELATIVE + 2 * ENDS
"""Bins of a profile: by relative position, then the first tokens from the first one on, then the last ones from the last one back."""

MOST: Final = 200
"""At most this many extreme tokens of a group are stored."""

_NEAR_ZERO: Final = np.float32(2.0**-14)
_DROPPED: Final = 17
_FIRST_CODE: Final = int(_NEAR_ZERO.view(np.int32)) >> _DROPPED
"""Values are counted in bins of a 64th to a 128th of their size, and equally wide ones near zero: the first bits of |x| + 2^-14 as float32."""

CODES: Final = (int(np.float32(np.inf).view(np.int32)) >> _DROPPED) - _FIRST_CODE + 1
"""Bins on either side of zero."""

MISSING: Final = 2 * CODES
"""In the place of a bin where there is no number."""


@dataclass(frozen=True)
class Counted:
    """The counted tokens of some rollouts, those of a group one after the other."""

    tokens: NDArray[np.int64] | slice
    """Where they lie in the flat arrays."""
    bounds: NDArray[np.int64]
    """(groups + 1,): group g has the counted tokens from `bounds[g]` to before the next."""
    cells: NDArray[np.int64]
    """(M,): by token its group and relative position, `group * RELATIVE + bin`."""
    at_ends: NDArray[np.int64]
    """(E,): which of the counted tokens are near an end; one near both is there twice."""
    end_cells: NDArray[np.int64]
    """(E,): `group * 2 * ENDS + bin`."""

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.bounds) - 1

    @cached_property
    def in_cells(self) -> NDArray[np.int64]:
        """How many of the tokens are at each place, (groups, PLACES)."""
        found: NDArray[np.int64] = _by_place(self, lambda cells, _, size: np.bincount(cells, minlength=size))
        return found

    def places(self, chosen: NDArray[np.int64], offsets: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rollouts of some of the counted tokens, and their positions there, masked tokens counted in; shapes as `chosen`."""
        at = self.tokens.start + chosen if isinstance(self.tokens, slice) else self.tokens[chosen]
        rows = np.searchsorted(offsets, at, side="right") - 1
        return rows, at - np.asarray(offsets)[rows]

    def of(self, values: FloatArray) -> NDArray[np.float32]:
        """A metric's numbers at these tokens, (M,); what overflows float32 is infinite."""
        with np.errstate(over="ignore"):
            narrow: NDArray[np.float32] = np.asarray(values, np.float32)[self.tokens]
        return narrow


def counted(offsets: IntArray, counts: BoolArray, rows: IntArray, groups: IntArray) -> Counted:
    """The counted tokens of `rows` (k,), whose `groups` (k,) do not fall; rollout i has the tokens from `offsets[i]` to before the next.

    `counts` (N,) says which tokens count.
    """
    offsets, rows, groups = (np.asarray(one, np.int64) for one in (offsets, rows, groups))
    before = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    lengths = (before[offsets[1:]] - before[offsets[:-1]])[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    number = int(groups[-1]) + 1 if len(rows) else 0
    bounds = starts[np.searchsorted(groups, np.arange(number + 1))]
    near = np.minimum(lengths, ENDS)
    at = _ranges(near)  # the first tokens counted from the first, the last ones from the last
    first, last = np.repeat(starts[:-1], near) + at, np.repeat(starts[1:] - 1, near) - at
    end_cells = np.repeat(groups * (2 * ENDS), near) + at
    return Counted(
        tokens=_tokens(offsets, counts, rows, before),
        bounds=bounds,
        cells=_relative(lengths, groups),
        at_ends=np.concatenate([first, last]),
        end_cells=np.concatenate([end_cells, end_cells + ENDS]),
    )


def _relative(lengths: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """`Counted.cells`: token `at` of a rollout of so many is in bin `at * RELATIVE // length`, and every bin is a stretch of tokens."""
    if lengths.sum() < len(lengths) * RELATIVE:  # short ones: fewer tokens than bins
        relative = _ranges(lengths) * RELATIVE // np.repeat(lengths, lengths)
        return np.repeat(groups * RELATIVE, lengths) + relative
    edges = -(-lengths[:, np.newaxis] * np.arange(RELATIVE + 1) // RELATIVE)
    cells = groups[:, np.newaxis] * RELATIVE + np.arange(RELATIVE)
    return np.repeat(cells.ravel(), np.diff(edges, axis=1).ravel())


def _ranges(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ... up to each of the lengths, end to end."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    found: NDArray[np.int64] = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    return found


def _tokens(
    offsets: NDArray[np.int64], counts: BoolArray, rows: NDArray[np.int64], before: NDArray[np.int64]
) -> NDArray[np.int64] | slice:
    """Where the counted tokens of some rows lie: a slice where they lie side by side, so that nothing need be gathered."""
    if len(rows) and (np.diff(rows) == 1).all():
        first, last = int(offsets[rows[0]]), int(offsets[rows[-1] + 1])
        whole = before[last] - before[first] == last - first
        return slice(first, last) if whole else first + np.flatnonzero(counts[first:last])
    lengths = np.diff(offsets)[rows]
    every = _ranges(lengths) + np.repeat(offsets[rows], lengths)
    return every[counts[every]]


@dataclass(frozen=True)
class Profile:
    """Sums and counts of a metric's finite numbers by position, each (groups, PLACES)."""

    sums: Float64Array
    counts: NDArray[np.int64]


def profile(where: Counted, values: NDArray[np.float32]) -> Profile:
    """A metric by position: `values` (M,) are those of the counted tokens. Numbers that are not finite enter nothing."""
    finite = np.isfinite(values)
    if finite.all():
        wide = values.astype(np.float64)
        return Profile(_by_place(where, lambda cells, tokens, size: np.bincount(cells, wide[tokens], size)), where.in_cells)
    known = np.where(finite, values, 0).astype(np.float64)
    sums = _by_place(where, lambda cells, tokens, size: np.bincount(cells, known[tokens], size))
    entering = _by_place(where, lambda cells, tokens, size: np.bincount(cells[finite[tokens]], minlength=size))
    return Profile(sums, entering.astype(np.int64))


def _by_place(where: Counted, add: Callable[[NDArray[np.int64], NDArray[np.int64] | slice, int], NDArray[Any]]) -> NDArray[Any]:
    """What `add` makes of cells, the tokens in them and the number of cells; (groups, PLACES)."""
    relative = add(where.cells, slice(None), where.groups * RELATIVE).reshape(where.groups, RELATIVE)
    ends = add(where.end_cells, where.at_ends, where.groups * 2 * ENDS).reshape(where.groups, 2 * ENDS)
    return np.concatenate([relative, ends], axis=1)


def codes(values: NDArray[np.float32]) -> NDArray[np.int32]:
    """The bin of each number, rising with it: from 1 (minus infinity) by CODES (0) to 2 * CODES - 1 (infinity); MISSING for NaN.

    Shape as given.
    """
    size = np.abs(values)
    found: NDArray[np.int32] = np.add(size, _NEAR_ZERO, out=size).view(np.int32)
    found >>= _DROPPED
    found -= _FIRST_CODE
    negative = np.ascontiguousarray(values).view(np.int32) >> 31  # all bits of a negative number, none of another
    found ^= negative  # which with the next line is its negation
    found -= negative
    found += CODES
    missing = np.isnan(values)
    if missing.any():
        found[missing] = MISSING
    return found


def code_values(numbers: IntArray) -> Float64Array:
    """The middle of each of these bins; infinite at either end."""
    size = np.abs(np.asarray(numbers, np.int64) - CODES)
    known = np.minimum(size, CODES - 2)
    low, high = (((known + one + _FIRST_CODE) << _DROPPED).astype(np.int32).view(np.float32).astype(np.float64) for one in (0, 1))
    middle = np.where(size >= CODES - 1, np.inf, np.where(size == 0, 0, (low + high) / 2 - float(_NEAR_ZERO)))
    return np.where(np.asarray(numbers) < CODES, -middle, middle)


def code_counts(found: NDArray[np.int32], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many numbers lie in each bin, (groups, 2 * CODES); those of NaN in none."""
    counts = [np.bincount(found[start:stop], minlength=MISSING + 1)[:MISSING] for start, stop in itertools.pairwise(bounds)]
    return np.array(counts, np.int64).reshape(len(bounds) - 1, MISSING)


def extremes(values: NDArray[np.float32], bounds: NDArray[np.int64], order: Extreme, most: int = MOST) -> NDArray[np.int64]:
    """Which of the values (M,) are the `most` extreme ones of each group, rising; of equal ones those that come first. NaN never is.

    Groups of no more tokens are taken whole.
    """
    ranks = rank(values, order)
    lengths = np.diff(bounds)
    small = lengths <= most
    chosen = [np.flatnonzero(np.repeat(small, lengths) & ~np.isnan(ranks)) if small.any() else np.zeros(0, np.int64)]
    for group in np.flatnonzero(lengths > most).tolist():
        start, stop = int(bounds[group]), int(bounds[group + 1])
        chosen.append(start + _least(ranks[start:stop], most))
    return np.sort(np.concatenate(chosen))


def rank(values: NDArray[np.float32], order: str) -> NDArray[np.float32]:
    """What is least where the value is most extreme."""
    return values if order == "lowest" else -np.abs(values) if order == "magnitude" else -values


def _least(ranks: NDArray[np.float32], most: int) -> NDArray[np.int64]:
    """Where the `most` least numbers are, NaN left out; of equal ones the first."""
    edge = _edge(ranks, most)
    if np.isnan(edge):
        return np.flatnonzero(~np.isnan(ranks))
    below = np.flatnonzero(ranks < edge)
    equal = np.flatnonzero(ranks == edge)[: most - len(below)]
    return np.concatenate([below, equal])


def _edge(ranks: NDArray[np.float32], most: int) -> np.float32:
    """The `most`-th least number; NaN where there are not so many. A sample rules out most numbers before the rest are partitioned."""
    sample = ranks[:: max(1, len(ranks) // 4_096)]
    share = min(len(sample) - 1, 8 + 3 * most * len(sample) // len(ranks))
    likely = ranks[ranks <= np.partition(sample, share)[share]]
    if len(likely) < most:
        likely = ranks[~np.isnan(ranks)]
    return np.float32(np.partition(likely, most - 1)[most - 1]) if len(likely) >= most else np.float32(np.nan)


@dataclass(frozen=True)
class Summary:
    """One metric over the counted tokens of one group."""

    sums: Float64Array
    """(PLACES,) as of `Profile`."""
    counts: NDArray[np.int64]
    """(PLACES,)"""
    bins: NDArray[np.int64]
    """(b,): the bins of `codes` that hold a number, rising."""
    in_bins: NDArray[np.int64]
    """(b,): how many they hold."""
    rows: NDArray[np.int64]
    """(e,): the rollouts of the MOST extreme tokens, as the caller counts them."""
    positions: NDArray[np.int64]
    """(e,): their positions in the rollout, from 0, masked tokens counted in."""
    values: NDArray[np.float32]
    """(e,)"""


def packed(one: Summary) -> bytes:
    """A summary as bytes, which `unpacked` reads."""
    head = np.array([len(one.bins), len(one.rows)], np.int32)
    numbers = np.concatenate([head, one.counts, one.bins, one.in_bins, one.rows, one.positions]).astype(np.int32)
    return one.sums.tobytes() + numbers.tobytes() + one.values.tobytes()


def unpacked(data: bytes) -> Summary:
    """A summary out of the bytes of `packed`."""
    sums = np.frombuffer(data, np.float64, PLACES)
    numbers = np.frombuffer(data, np.int32, offset=sums.nbytes)
    bins, tokens = int(numbers[0]), int(numbers[1])
    ends = np.cumsum([2, PLACES, bins, bins, tokens, tokens])
    counts, codes_, in_bins, rows, positions = (numbers[start:stop].astype(np.int64) for start, stop in itertools.pairwise(ends))
    return Summary(sums, counts, codes_, in_bins, rows, positions, numbers[ends[-1] :].view(np.float32))


def summaries(where: Counted, values: FloatArray, order: Extreme, offsets: IntArray) -> list[Summary]:
    """A metric's summary of each group: `values` (N,) are those of all tokens; rollout i has those from `offsets[i]` to before the next."""
    held = where.of(values)
    by_place, binned = profile(where, held), code_counts(codes(held), where.bounds)
    chosen = extremes(held, where.bounds, order)
    ends = np.searchsorted(chosen, where.bounds)
    found = []
    for group in range(where.groups):
        own = chosen[ends[group] : ends[group + 1]]
        bins = np.flatnonzero(binned[group])
        rows, positions = where.places(own, offsets)
        counts = binned[group][bins]
        found.append(Summary(by_place.sums[group], by_place.counts[group], bins, counts, rows, positions, held[own]))
    return found
