"""board.metrics.running_stats: a few numbers say what all the values would."""

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from board.metrics.running_stats import RunningStats, single

VALUES = st.lists(st.tuples(*[st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, -math.inf])] * 2), max_size=8)
STATISTICS: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "mean": np.mean,
    "std": np.std,
    "variance": np.var,
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
    "mean_square": lambda values: float(np.mean(np.square(values))),
}


def seen(pieces: list[list[tuple[float, ...]]]) -> RunningStats:
    """The statistics of two quantities, whose values come in pieces."""
    stats = RunningStats(2)
    for piece in pieces:
        stats.merge(single(np.array(piece).reshape(len(piece), 2)))
    return stats


@given(st.lists(VALUES, max_size=6))
def test_piece_by_piece_is_all_at_once(pieces: list[list[tuple[float, ...]]]) -> None:
    """However the values are cut into pieces, the statistics are numpy's over the finite ones together; NaN where there is none."""
    stats = seen(pieces)
    for at in range(2):
        values = np.array([pair[at] for piece in pieces for pair in piece if math.isfinite(pair[at])])
        for name, direct in STATISTICS.items():
            expected = float(direct(values)) if values.size else math.nan
            assert stats.statistic(name)[at] == pytest.approx(expected, rel=1e-9, abs=1e-4, nan_ok=True)


def test_a_small_spread_far_from_zero_keeps_its_digits() -> None:
    """The variance is no difference of large squares."""
    stats = seen([[(one, 0.0)] for one in 1e9 + np.array([4.0, 7.0, 13.0, 16.0])])

    assert stats.statistic("variance")[0] == pytest.approx(22.5)


def test_what_overflows_is_not_finite_and_warns_of_nothing() -> None:
    """A number too large for its square gives a variance that is no number, not a warning."""
    stats = seen([[(sys.float_info.max, 0.0), (-sys.float_info.max, 0.0)]])

    assert not math.isfinite(stats.statistic("variance")[0])
