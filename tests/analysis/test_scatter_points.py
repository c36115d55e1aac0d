"""Where rollouts lie between two axes, how densely, and which of them a box or a lasso holds."""

import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from board.analysis.stats.scatter_points import (
    COLUMNS,
    MOST_CORNERS,
    ROWS,
    Axis,
    Corner,
    axis_of,
    box_condition,
    color_ends,
    density,
    lasso_condition,
    nearest,
    scatter_points,
    simplified,
)

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


UNIT = Axis(0.0, 1.0, log=False)
WIDE = Axis(-50.0, 150.0, log=False)
DECADES = Axis(-3.0, 5.0, log=True)

BASE = duckdb.connect()

PLACES = st.tuples(*[st.integers(0, 1000).map(lambda at: at / 1000)] * 2)


def held(condition: str, points: list[tuple[float | None, float | None]]) -> list[bool]:
    """Which of the points a query with that condition finds."""
    columns = [pa.array([point[side] for point in points], pa.float64()) for side in (0, 1)]
    asked = pa.table({"place": range(len(points)), "x": columns[0], "the y": columns[1]})
    found = {row[0] for row in BASE.from_arrow(asked).filter(condition).project("place").fetchall()}
    return [at in found for at in range(len(points))]


def winding(point: Corner, corners: list[Corner]) -> float:
    """By how many turns the corners go around the point, summed up angle by angle."""
    angles = [math.atan2(y - point[1], x - point[0]) for x, y in corners]
    return sum(math.remainder(b - a, math.tau) for a, b in zip(angles, [*angles[1:], angles[0]], strict=True)) / math.tau


def far_from_edges(point: Corner, corners: list[Corner]) -> bool:
    """Whether the point is not so near to an edge that rounding may decide."""
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        along = max(
            0.0, min(1.0, ((point[0] - x0) * (x1 - x0) + (point[1] - y0) * (y1 - y0)) / (((x1 - x0) ** 2 + (y1 - y0) ** 2) or 1))
        )
        if math.hypot(point[0] - x0 - along * (x1 - x0), point[1] - y0 - along * (y1 - y0)) < 3e-3:
            return False
    return True


@settings(max_examples=50)
@given(st.lists(PLACES, min_size=3, max_size=12), st.lists(PLACES, min_size=1, max_size=20))
def test_a_lasso_holds_what_it_goes_around(corners: list[Corner], points: list[Corner]) -> None:
    """An odd number of times, where it crosses itself; on axes of any length."""
    points = [point for point in points if far_from_edges(point, corners)]
    condition = lasso_condition("x", '"the y"', WIDE, UNIT, corners)
    assume(points and condition)
    placed: list[tuple[float | None, float | None]] = [(-50 + 200 * x, y) for x, y in points]

    assert held(condition, placed) == [round(winding(point, corners)) % 2 == 1 for point in points]


def test_a_lasso_on_logarithmic_axes() -> None:
    """Its edges are straight where they were drawn; what has no place on the axis is in none, and no error."""
    square = [(0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75)]
    condition = lasso_condition("x", '"the y"', DECADES, UNIT, square)

    points: list[tuple[float | None, float | None]] = [
        (0.2, 0.5),
        (0.05, 0.5),
        (900.0, 0.5),
        (2000.0, 0.5),
        (0.0, 0.5),
        (-1.0, 0.5),
    ]
    assert held(condition, [*points, (None, 0.5), (10.0, None), (math.nan, 0.5), (10.0, math.nan)]) == [
        *(True, False, True, False, False, False),
        *(False, False, False, False),
    ]


BOXES: dict[str, tuple[Axis, Corner, Corner, str]] = {
    "either way round": (UNIT, (0.75, 0.5), (0.25, 0.0), 'x BETWEEN 0.25 AND 0.75 AND "the y" BETWEEN 0 AND 0.5'),
    "below zero": (WIDE, (0.1, 0.0), (0.5, 1.0), 'x BETWEEN (-30) AND 50 AND "the y" BETWEEN 0 AND 1'),
    "no more digits than pixels": (UNIT, (1 / 3, 0.0), (2 / 3, 1.0), 'x BETWEEN 0.333 AND 0.667 AND "the y" BETWEEN 0 AND 1'),
    "logarithmic": (DECADES, (0.125, 0.0), (0.5, 1.0), 'x BETWEEN 0.01 AND 10 AND "the y" BETWEEN 0 AND 1'),
}


@pytest.mark.parametrize("name", BOXES)
def test_box(name: str) -> None:
    """A box is two ranges, in numbers that a reader may read, and change."""
    axis, one, other, expected = BOXES[name]

    condition = box_condition("x", '"the y"', axis, UNIT, one, other)

    assert condition == expected
    held(condition, [(1.0, 1.0)])


@given(st.lists(PLACES, min_size=3, max_size=60))
def test_a_polygon_is_simplified(corners: list[Corner]) -> None:
    """Corners that stay are those of before, in their order, and few."""
    kept = simplified(corners)

    assert len(kept) <= MOST_CORNERS
    places = iter(corners)
    assert all(any(corner == one for one in places) for corner in kept)


def test_a_circle_stays_a_circle() -> None:
    """Of hundreds of corners two dozen follow it: the area is nearly the same."""
    turn = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    circle = [(0.5 + 0.4 * math.cos(at), 0.5 + 0.4 * math.sin(at)) for at in turn]

    kept = np.array(simplified(circle))

    area = 0.5 * abs(np.dot(kept[:, 0], np.roll(kept[:, 1], 1)) - np.dot(kept[:, 1], np.roll(kept[:, 0], 1)))
    assert area == pytest.approx(np.pi * 0.16, rel=0.02)


def test_a_line_is_no_area() -> None:
    """A lasso without height holds nothing, and is no condition."""
    assert lasso_condition("x", "y", UNIT, UNIT, [(0.1, 0.5), (0.5, 0.5), (0.9, 0.5)]) == ""
