"""Length and reward: against plain definitions, and where the answer is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.stats.length_attribution import correlation, coupling, lengths_by_outcome, share_of_gain, within
from board.metrics.step_sums import Steps

_NUMBER = st.sampled_from([np.nan, 0.0, 1.0, 2.0, 5.0, -3.0])
_ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 3), _NUMBER, _NUMBER), max_size=16)


@given(_ROWS)
def test_coupling(rows: list[tuple[int, int, float, float]]) -> None:
    """The correlation of deviations from the group's means, step by step."""
    rows.sort(key=lambda row: row[0])
    steps = Steps(np.array([row[0] for row in rows], np.int64))
    groups = np.array([-1 if row[1] < 0 else 10 * row[0] + row[1] for row in rows], np.int64)
    lengths, rewards = (np.array([row[at] for row in rows], np.float64) for at in (2, 3))
    found = coupling(steps, lengths, rewards, groups)
    for at, step in enumerate(steps.numbers):
        pairs = []
        for group in set(groups[groups >= 0]):
            members = [row for row, of in zip(rows, groups, strict=True) if row[0] == step and of == group]
            sizes, paid = ([row[i] for row in members if row[i] == row[i]] for i in (2, 3))
            if len(sizes) > 1 and len(paid) > 1:
                pairs += [
                    (row[2] - np.mean(sizes), row[3] - np.mean(paid)) for row in members if row[2] == row[2] and row[3] == row[3]
                ]
        x, y = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
        spread = math.sqrt((x * x).sum() * (y * y).sum()) if pairs else 0.0
        np.testing.assert_allclose(found[at], (x * y).sum() / spread if spread > 1e-9 else found[at])


def test_within() -> None:
    """Of no group, alone in it, missing: no deviation."""
    values = np.array([1.0, 3.0, 5.0, np.nan, 4.0])
    np.testing.assert_array_equal(within(values, np.array([0, 0, 1, 1, -1])), [-1, 1, np.nan, np.nan, np.nan])


def test_correlation_of_huge_numbers() -> None:
    """Squares that would overflow."""
    assert correlation(np.array([-1e300, 1e300]), np.array([-1.0, 1.0])) == pytest.approx(1)
    assert math.isnan(correlation(np.zeros(3), np.ones(3)))


@pytest.mark.parametrize(
    ("late_length", "late_reward", "share"),
    [
        # reward is length / 10, so a shift of lengths buys all of the gain
        ([10, 20, 20, 20], [1, 2, 2, 2], 1.0),
        # lengths stay, every class earns more
        ([10, 10, 20, 20], [2, 2, 3, 3], 0.0),
        # half of each: 1.5 -> 1.75 by length, 1.75 -> 2 otherwise
        ([10, 20, 20, 20], [1.25, 2.25, 2.25, 2.25], 0.5),
        # nothing is gained
        ([10, 10, 20, 20], [1, 1, 2, 2], math.nan),
        # longer than any early one: as much as the longest early class earns
        ([30, 30, 30, 30], [3, 3, 3, 3], 0.5 / 1.5),
    ],
)
def test_share_of_gain(late_length: list[float], late_reward: list[float], share: float) -> None:
    """Two lengths, as many early responses of each, of which a reward is known."""
    lengths = np.array([10, 10, 20, 20, *late_length], np.float64)
    rewards = np.array([1, 1, 2, 2, *late_reward], np.float64)
    early = np.arange(8) < 4
    np.testing.assert_allclose(share_of_gain(lengths, rewards, early, ~early), share)


def test_share_of_gain_of_nothing() -> None:
    """No early responses with both."""
    assert math.isnan(share_of_gain(np.array([np.nan, 1.0]), np.ones(2), np.array([True, False]), np.array([False, True])))


def test_lengths_by_outcome() -> None:
    """Means of right and wrong ones; a step without one of them has none."""
    steps = Steps(np.array([0, 0, 0, 1, 1]))
    found = lengths_by_outcome(steps, np.array([1.0, 3.0, 5.0, 7.0, 9.0]), np.array([1.0, 0.0, 0.5, 0.0, np.nan]), 0.5)
    np.testing.assert_array_equal(found["right"], [3, np.nan])
    np.testing.assert_array_equal(found["wrong"], [3, 7])
