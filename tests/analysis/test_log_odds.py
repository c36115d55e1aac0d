"""Weighted log-odds: against the formula written out, known numbers, and what must hold whatever the counts."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.stats.log_odds import PRIOR_SHARE, Z_LIMIT, against_shared_prior, log_odds

COUNTS = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500), st.floats(0.01, 50)), min_size=1, max_size=8)


@given(COUNTS, st.integers(0, 1000), st.integers(0, 1000))
def test_formula_written_out(counts: list[tuple[int, int, float]], more: int, other: int) -> None:
    """One thing at a time, as the paper has it, with the terms of what is something else."""
    first, second, prior = (np.array(column) for column in zip(*counts, strict=True))
    totals, alpha = (500.0 + more, 500.0 + other), 51.0

    found = log_odds(first, second, totals, prior, alpha)

    for at, (y, x, a) in enumerate(counts):
        rest = (totals[0] + alpha - y - a, totals[1] + alpha - x - a)
        delta = log((y + a) / rest[0]) - log((x + a) / rest[1])
        variance = 1 / (y + a) + 1 / rest[0] + 1 / (x + a) + 1 / rest[1]
        assert found.delta[at] == pytest.approx(delta, abs=1e-9)
        assert found.z[at] == pytest.approx(delta / sqrt(variance), abs=1e-9)


def test_closed_form() -> None:
    """Without a prior it is the logarithm of the odds ratio and its usual variance: 30 of 40 against 10 of 40 are ln 9."""
    found = log_odds(np.array([30]), np.array([10]), (40, 40), np.zeros(1), 0)
    assert found.delta[0] == pytest.approx(log(9))
    assert found.z[0] == pytest.approx(log(9) / sqrt(2 / 30 + 2 / 10))


@given(COUNTS)
def test_sides_may_be_exchanged(counts: list[tuple[int, int, float]]) -> None:
    """What is commoner in one is rarer in the other by as much; equal counts of equal corpora are no difference."""
    first, second, _ = (np.array(column) for column in zip(*counts, strict=True))
    there, back = (against_shared_prior(*pair, (600, 600)) for pair in ((first, second), (second, first)))
    np.testing.assert_allclose(there.z, -back.z, atol=1e-9)
    np.testing.assert_allclose(against_shared_prior(first, first, (600, 600)).z, 0, atol=1e-9)


@pytest.mark.parametrize(("count", "stands_out"), [(20, True), (10, False)])
def test_how_many_it_takes(count: int, stands_out: bool) -> None:
    """The prior's weight is chosen so: 20 against none stand out, 10 do not."""
    found = against_shared_prior(np.array([count]), np.array([0]), (1000, 1000))
    assert bool(found.z[0] > Z_LIMIT) == stands_out


def test_prior_draws_towards_what_is_common_to_both() -> None:
    """Equal ratios: of rare things the prior leaves less than of common ones."""
    z = against_shared_prior(np.array([2, 200]), np.array([1, 100]), (1000, 1000)).z
    assert z[0] < 1 < z[1]
    assert 0 < PRIOR_SHARE < 1


def test_nothing_to_compare() -> None:
    """Empty corpora, and things in neither or in all: no number warns, and none stands out."""
    assert against_shared_prior(np.zeros(2), np.zeros(2), (0, 0)).z.tolist() == [0, 0]
    assert against_shared_prior(np.array([0, 10]), np.array([0, 10]), (10, 10)).z.tolist() == [0, 0]
    assert against_shared_prior(np.zeros(0), np.zeros(0), (5, 5)).z.size == 0
