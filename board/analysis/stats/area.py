"""What a box or a lasso between two axes holds, as a condition in SQL.

Corners are numbers of this module's own writing; nothing that a browser sends is put into a condition as text.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from board.analysis.stats.scatter_points import Axis

MOST_CORNERS: Final = 24
"""A lasso is drawn with hundreds; so many are enough to follow it, and fit into a link."""

MOST_SENT: Final = 4_000
"""Corners of a lasso that a browser may send."""

Corner = tuple[float, float]


def box_condition(x: str, y: str, x_axis: Axis, y_axis: Axis, one: Corner, other: Corner) -> str:
    """The condition that x and y lie in the box between two places (0 to 1). `x` and `y` are SQL."""
    (left, right), (below, above) = (sorted(ends) for ends in zip(one, other, strict=True))
    return (
        f"{x} BETWEEN {_number(x_axis.value(left))} AND {_number(x_axis.value(right))} "
        f"AND {y} BETWEEN {_number(y_axis.value(below))} AND {_number(y_axis.value(above))}"
    )


def lasso_condition(x: str, y: str, x_axis: Axis, y_axis: Axis, corners: Sequence[Corner]) -> str:
    """The condition that x and y lie within the polygon of these places (0 to 1), three or more; `x` and `y` are SQL. Empty for no area.

    A line from the point to the right crosses the polygon's edges an odd number of times (Shimrat, Algorithm 112, 1962). A missing number
    is in no polygon.
    """
    placed = [(x_axis.on_axis(one), y_axis.on_axis(other)) for one, other in simplified(corners)]
    edges = [_crossing(_on_axis(x, x_axis), _on_axis(y, y_axis), *edge) for edge in pairwise([*placed, *placed[:1]])]
    crossings = " + ".join(edge for edge in edges if edge)
    return f"({crossings}) % 2 = 1" if crossings else ""


def simplified(corners: Sequence[Corner], most: int = MOST_CORNERS) -> list[Corner]:
    """The polygon with at most so many corners: again and again the one goes that spans the smallest triangle with its neighbours.

    Visvalingam and Whyatt, Line generalisation by repeated elimination of points (1993). At least three corners stay.
    """
    simple = [corner for corner, before in zip(corners, [None, *corners], strict=False) if corner != before]
    while len(simple) > max(most, 3):
        areas = [_triangle(simple[at - 1], simple[at], simple[(at + 1) % len(simple)]) for at in range(len(simple))]
        del simple[areas.index(min(areas))]
    return simple


def _triangle(a: Corner, b: Corner, c: Corner) -> float:
    return abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]))


def _on_axis(sql: str, axis: Axis) -> str:
    return f"log10(CASE WHEN {sql} > 0 THEN {sql} END)" if axis.log else sql


def _crossing(x: str, y: str, start: Corner, end: Corner) -> str:
    """1 where a line from the point to the right crosses the edge, else 0; empty for an edge that none can cross."""
    (x0, y0), (x1, y1) = sorted([start, end], key=lambda corner: corner[1])
    if y0 == y1:
        return ""
    slope = (x1 - x0) / (y1 - y0)
    right = f"{x} < {_number(x0)} + {_number(slope)} * ({y} - {_number(y0)})" if slope else f"{x} < {_number(x0)}"
    return f"({y} >= {_number(y0)} AND {y} < {_number(y1)} AND {right})::INT"


def _number(value: float) -> str:
    """A number as SQL reads it, in brackets where it is below zero."""
    text = f"{float(f'{value:.6g}')!r}".removesuffix(".0")
    return f"({text})" if value < 0 else text
