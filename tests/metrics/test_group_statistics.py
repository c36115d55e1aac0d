"""board.metrics.group_statistics: what the rewards of groups say, at the edges; `test_step_metrics` holds every number's definition."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.metrics.group_statistics import (
    GROUP_STATISTICS,
    group_rewards,
    group_sizes,
    group_statistics,
    pass_at_k,
    powers_of_two,
)
from board.metrics.step_sums import Steps

NAN = math.nan

GROUPS: dict[str, tuple[list[float], list[float], dict[str, float]]] = {
    "all the same": (
        [1, 1, 1, 1],
        [0, 0, 1, 1],
        {"zero_std_share": 1, "std_mean": 0, "all_best_share": NAN, "signal_to_noise": NAN},
    ),
    "one group decided": ([1, 1, 0, 1], [0, 0, 1, 1], {"zero_std_share": 0.5, "all_best_share": 0.5, "all_worst_share": 0}),
    "groups of one": ([1, 0], [0, 1], {"zero_std_share": NAN, "std_mean": NAN, "best_mean": 0.5}),
    "one reward missing": ([1, NAN, 0, 0], [0, 0, 1, 1], {"zero_std_share": 1, "best_mean": 0.5}),
    "no group known": ([1, 0], [NAN, NAN], {"zero_std_share": NAN, "best_mean": NAN}),
    "nothing": ([], [], {}),
}


@pytest.mark.parametrize(("scores", "numbers", "expected"), GROUPS.values(), ids=GROUPS)
def test_groups_at_the_edges(scores: list[float], numbers: list[float], expected: dict[str, float]) -> None:
    """Groups without spread, of one, without rewards."""
    steps = Steps(np.zeros(len(scores), np.int64))

    found = group_rewards(steps, np.array(scores, np.float64), np.array(numbers, np.float64))

    assert {name: found[name][0] for name in expected} == pytest.approx(expected, nan_ok=True)


def test_group_numbers_count_within_their_step() -> None:
    """The same number in another step is another group."""
    steps = Steps(np.array([1, 1, 2]))

    count, size = group_sizes(steps, np.array([0.0, 0.0, 0.0]))

    assert (count.tolist(), size.tolist()) == ([1, 1], [2, 1])


def test_all_statistics_are_there() -> None:
    """Sizes and rewards together are what the list of names says."""
    assert tuple(group_statistics(Steps(np.zeros(1, np.int64)), np.ones(1), np.zeros(1))) == GROUP_STATISTICS


def one(n: int, c: int, k: int) -> float:
    """Of one group."""
    return float(pass_at_k(np.array([n]), np.array([c]), k)[0])


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_closed_form(drawn: tuple[int, int, int]) -> None:
    """1 − C(n − c, k) / C(n, k)."""
    n, c, k = drawn
    assert one(n, c, k) == pytest.approx(1 - math.comb(n - c, k) / math.comb(n, k), abs=1e-9)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 2, 2), (6, 1, 3), (4, 4, 2), (4, 0, 3), (7, 3, 7)])
def test_share_of_all_draws(n: int, c: int, k: int) -> None:
    """It is the share of all ways to draw k of the n responses that have a right one among them."""
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert one(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-12)


def test_ends() -> None:
    """NaN with fewer than k responses, pass@1 is the share, 0 without a right one, and a million samples stay within 0 and 1."""
    assert np.isnan(one(3, 1, 4))
    assert one(8, 3, 1) == pytest.approx(3 / 8)
    assert [one(n, 0, k) for n, k in [(8, 4), (16_000, 4), (1_000_000, 10)]] == [0, 0, 0]
    assert one(1_000_000, 1_000_000, 10) == 1
    assert one(1_000_000, 1, 500_000) == pytest.approx(0.5, abs=1e-6)
    assert pass_at_k(np.zeros(0, np.int64), np.zeros(0, np.int64), 1).size == 0


def test_powers_of_two() -> None:
    """From 1 up to the largest group, and no further than 1,024."""
    assert [powers_of_two(n) for n in (0, 1, 5, 8)] == [[1], [1], [1, 2, 4], [1, 2, 4, 8]]
    assert powers_of_two(10**9)[-1] == 1_024
