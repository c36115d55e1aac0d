"""board.metrics.token_summaries against loops over tokens written from the definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.metrics.token_summaries import (
    CODES,
    ENDS,
    MISSING,
    PLACES,
    RELATIVE,
    code_counts,
    code_values,
    codes,
    counted,
    extremes,
    packed,
    profile,
    summaries,
    unpacked,
)
from board.schema import Extreme

Rollouts = list[tuple[int, list[tuple[float, bool]]]]
"""Of each its group, and of each of its tokens the number and whether it counts."""

pytestmark = pytest.mark.filterwarnings("error")  # nothing may warn, whatever it is given


def number() -> st.SearchStrategy[float]:
    """A number as float32 keeps it, equal ones often, missing and infinite ones too."""
    return st.one_of(st.sampled_from([0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf]), st.floats(width=32))


def rollouts() -> st.SearchStrategy[Rollouts]:
    """Some rollouts of three groups, some of them empty."""
    tokens = st.lists(st.tuples(number(), st.booleans()), max_size=150)
    return st.lists(st.tuples(st.integers(0, 2), tokens), min_size=1, max_size=6)


def laid_out(given_: Rollouts) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Values, counts, offsets, rows in the order of their groups, and groups without holes."""
    values = np.array([one for _, tokens in given_ for one, _ in tokens], np.float32)
    counts = np.array([counts for _, tokens in given_ for _, counts in tokens], bool)
    offsets = np.cumsum([0, *(len(tokens) for _, tokens in given_)])
    groups = np.array([group for group, _ in given_])
    rows = np.argsort(groups, kind="stable")
    return values, counts, offsets, rows, np.unique(groups[rows], return_inverse=True)[1]


@given(rollouts())
def test_profile_against_a_loop(given_: Rollouts) -> None:
    """Every counted token adds to the bin of its relative place, and to that of its distance from either end where it is near."""
    values, counts, offsets, rows, groups = laid_out(given_)
    sums, found = np.zeros((groups.max() + 1, PLACES)), np.zeros((groups.max() + 1, PLACES), int)
    for row, group in zip(rows.tolist(), groups.tolist(), strict=True):
        kept = [one for one, counts in given_[row][1] if counts]
        for at, one in enumerate(np.array(kept, np.float32).astype(float)):
            left = len(kept) - 1 - at
            places = [at * RELATIVE // len(kept), *([RELATIVE + at] if at < ENDS else [])]
            for place in [*places, *([RELATIVE + ENDS + left] if left < ENDS else [])]:
                if math.isfinite(one):
                    sums[group, place] += one
                    found[group, place] += 1

    where = counted(offsets, counts, rows, groups)
    by_place = profile(where, where.of(values))

    np.testing.assert_array_equal(by_place.counts, found)
    scale = np.abs(values[np.isfinite(values)].astype(float)).sum()
    np.testing.assert_allclose(by_place.sums, sums, rtol=1e-9, atol=1e-12 * scale)


RANK = {"magnitude": lambda x: -abs(x), "highest": lambda x: -x, "lowest": lambda x: x}


@given(rollouts(), st.sampled_from(["magnitude", "highest", "lowest"]), st.integers(1, 20))
def test_extremes_against_sorting(given_: Rollouts, order: Extreme, most: int) -> None:
    """Of each group the most extreme counted tokens, the first of equals; a missing number is never extreme."""
    values, counts, offsets, rows, groups = laid_out(given_)
    wanted: list[tuple[int, int]] = []
    for group in range(groups.max() + 1):
        own = [
            (row, at)
            for row in rows[groups == group].tolist()
            for at, (one, counts) in enumerate(given_[row][1])
            if counts and not math.isnan(one)
        ]
        wanted += sorted(own, key=lambda place: RANK[order](given_[place[0]][1][place[1]][0]))[:most]

    where = counted(offsets, counts, rows, groups)
    chosen = extremes(where.of(values), where.bounds, order, most)

    small = np.diff(where.bounds) <= most
    found = [*zip(*(one.tolist() for one in where.places(chosen, offsets)), strict=True)]
    assert (sorted(found) == sorted(wanted)) if not small.any() else (set(wanted) <= set(found))
    assert len(found) == len(wanted)


@pytest.mark.parametrize("order", RANK)
def test_extremes_of_many_equal_numbers(order: Extreme) -> None:
    """Where nearly all numbers are the same, the others come first, then the first of the equal ones."""
    values = np.zeros(50_000, np.float32)
    values[[40_000, 777]] = {"magnitude": [-3, 2], "highest": [3, 2], "lowest": [-3, -2]}[order]
    values[::3] = np.where(values[::3] == 0, np.nan, values[::3])

    chosen = extremes(values, np.array([0, len(values)]), order, 4)

    assert chosen.tolist() == [1, 2, 777, 40_000]


@given(st.lists(number(), min_size=1, max_size=50))
def test_bins_keep_the_order_and_the_size(numbers: list[float]) -> None:
    """A bin rises with its numbers, its middle is within a 64th of each, or within 2^-20 of them near zero; NaN is in none."""
    values = np.array(numbers, np.float32)
    known = values[~np.isnan(values)]

    found = codes(values)

    assert (found[np.isnan(values)] == MISSING).all()
    ordered = np.argsort(known, kind="stable")
    assert (np.diff(codes(known)[ordered]) >= 0).all()
    finite = known[np.isfinite(known) & (np.abs(known) < 3e38)].astype(float)
    assert (np.abs(code_values(codes(finite.astype(np.float32))) - finite) <= np.abs(finite) / 64 + 2.0**-20).all()
    assert code_counts(found, np.array([0, len(values)])).sum() == len(known)
    assert set(codes(np.array([0, np.inf, -np.inf], np.float32)).tolist()) == {CODES, 2 * CODES - 1, 1}


@given(rollouts(), st.sampled_from(["magnitude", "highest", "lowest"]))
def test_summaries_are_packed_and_read_back(given_: Rollouts, order: Extreme) -> None:
    """What is kept is what was computed, and says of each extreme token where it is."""
    values, counts, offsets, rows, groups = laid_out(given_)
    where = counted(offsets, counts, rows, groups)

    for group, one in enumerate(summaries(where, values, order, offsets)):
        back = unpacked(packed(one))
        for name in one.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(back, name), getattr(one, name), err_msg=name)
        assert one.in_bins.sum() == np.count_nonzero(~np.isnan(where.of(values)[slice(*where.bounds[group : group + 2])]))
        np.testing.assert_array_equal(values[offsets[one.rows] + one.positions], one.values)
