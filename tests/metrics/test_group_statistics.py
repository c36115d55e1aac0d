"""board.metrics.group_statistics: what the rewards of groups say, at the edges; `test_step_metrics` holds every number's definition."""

import math

import numpy as np
import pytest

from board.metrics.group_statistics import GROUP_STATISTICS, group_rewards, group_sizes, group_statistics
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
