"""Where rollouts lie between two axes, and how densely."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.stats.scatter_points import COLUMNS, ROWS, Axis, axis_of, color_ends, density, nearest, scatter_points

NUMBERS = st.one_of(st.floats(), st.integers(-2, 2).map(float))


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=30), st.booleans(), st.booleans())
def test_every_rollout_is_drawn_or_counted(rows: list[tuple[float, float, float]], log_x: bool, log_y: bool) -> None:
    """Drawn where it has both numbers and a place on both axes; else it is missing, or not above zero. Whatever the numbers are."""
    x, y, color = (np.array([row[at] for row in rows], np.float64) for at in range(3))

    found = scatter_points(x, y, color, log_x=log_x, log_y=log_y)

    both = [math.isfinite(a) and math.isfinite(b) for a, b, _ in rows]
    placed = [ok and (not log_x or a > 0) and (not log_y or b > 0) for ok, (a, b, _) in zip(both, rows, strict=True)]
    assert found.at.tolist() == [at for at, ok in enumerate(placed) if ok]
    assert (found.missing, found.unplaced) == (both.count(False), sum(both) - sum(placed))
    assert ((found.x >= 0) & (found.x <= 1) & (found.y >= 0) & (found.y <= 1)).all()
    counts, means = density(found)
    assert counts.sum() == found.at.size
    assert counts.shape == means.shape == (ROWS, COLUMNS)


def test_places_and_numbers() -> None:
    """An axis leaves a margin; a place leads back to its number, to what can be told apart on it."""
    axis = axis_of(np.array([2.0, 12.0, np.nan]), log=False)

    np.testing.assert_allclose([axis.low, axis.high], [1.7, 12.3])
    assert axis.value(float(axis.places(np.array([7.123456]))[0])) == 7.12
    assert Axis(-3, 5, log=True).value(0.5) == 10
    assert np.isnan(Axis(-3, 5, log=True).places(np.array([0.0, -1.0, np.nan, np.inf]))).all()


@pytest.mark.parametrize("value", [0.0, 7.0, -1e300, 1e-300], ids=str)
def test_one_value_stands_in_the_middle(value: float) -> None:
    """An axis has a length even where all rollouts agree."""
    axis = axis_of(np.array([value, value]), log=False)

    np.testing.assert_allclose(axis.places(np.array([value])), [0.5])


def test_density_counts_and_takes_the_mean() -> None:
    """Two rollouts in one cell are two, their colour the mean of those that have one."""
    found = scatter_points(np.array([0.0, 0, 1]), np.array([0.0, 0, 5]), np.array([1, 4, np.nan]), log_x=False, log_y=False)

    counts, means = density(found)

    filled = np.argwhere(counts > 0)
    assert counts[tuple(filled.T)].tolist() == [2, 1]
    np.testing.assert_array_equal(means[tuple(filled.T)], [2.5, np.nan])
    assert (filled[0] < filled[1]).all()


def test_the_nearest_rollout() -> None:
    """Near is what looks near; of several at one place all are told, and rollouts without a place are none."""
    found = scatter_points(np.array([np.nan, 0.0, 1000.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0]), None, log_x=False, log_y=False)
    nothing = scatter_points(np.array([np.nan]), np.array([1.0]), None, log_x=False, log_y=False)

    assert [nearest(*one).tolist() for one in ((found, 0.1, 0.2), (found, 0.6, 0.9), (nothing, 0.5, 0.5))] == [[1, 3], [2], []]


ENDS: dict[str, tuple[list[float], tuple[float, float] | None]] = {
    "outliers left out": ([*range(101), 1e9], (1.01, 99.99)),
    "both sides of zero": ([-1.0, -1.0, 3.0, 3.0], (-3.0, 3.0)),
    "all the same": ([2.0, np.nan, 2.0], (2.0, 2.0)),
    "none": ([np.nan, np.inf], None),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_of_the_colours(name: str) -> None:
    """Robust, and as far from zero on either side of it."""
    values, expected = ENDS[name]

    found = color_ends(np.array(values, np.float64))

    assert (found is None) == (expected is None)
    np.testing.assert_allclose(found or (), expected or ())
