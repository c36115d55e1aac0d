"""Boxes and lassos as conditions, asked of DuckDB, against the slow way to tell whether a point lies within."""

import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from board.analysis.stats.scatter_points import MOST_CORNERS, Axis, Corner, box_condition, lasso_condition, simplified

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
