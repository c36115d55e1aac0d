"""board.metrics.running_stats: a few numbers say what all the values would."""

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from board.metrics.running_stats import Spread

VALUES = st.lists(st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, -math.inf]), max_size=8)
STATISTICS: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "mean": np.mean,
    "std": np.std,
    "variance": np.var,
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
}


@given(st.lists(VALUES, max_size=6))
def test_piece_by_piece_is_all_at_once(pieces: list[list[float]]) -> None:
    """However the values are cut into pieces, the statistics are numpy's over the finite ones together; NaN where there is none."""
    moments = Spread()
    for piece in pieces:
        moments.add(np.array(piece))
    values = np.array([value for piece in pieces for value in piece if math.isfinite(value)])

    assert moments.count == len(values)
    for name, direct in STATISTICS.items():
        expected = float(direct(values)) if values.size else math.nan
        assert getattr(moments, name) == pytest.approx(expected, rel=1e-9, abs=1e-4, nan_ok=True)


def test_a_small_spread_far_from_zero_keeps_its_digits() -> None:
    """The variance is no difference of large squares."""
    values = 1e9 + np.array([4.0, 7.0, 13.0, 16.0])
    moments = Spread()
    for value in values:
        moments.add(value[None])

    assert moments.variance == pytest.approx(22.5)


def test_what_overflows_is_not_finite_and_warns_of_nothing() -> None:
    """A number too large for its square gives an infinite variance, not a warning."""
    moments = Spread()
    moments.add(np.array([sys.float_info.max, -sys.float_info.max]))

    assert not math.isfinite(moments.variance)
