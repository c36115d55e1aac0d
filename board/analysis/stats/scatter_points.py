"""Scatter of rollouts by two numbers: positions on both axes, density, and what a box or a lasso holds as a condition in SQL.

Places on an axis are shares of its length, 0 to 1, so that what is drawn and what is selected needs no unit. Corners are
written as numbers by this module; nothing that a browser sends is put into a condition as text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array

MOST_POINTS: Final = 100_000
"""Of more rollouts a picture of their density is drawn in place of points."""

COLUMNS: Final = 200
ROWS: Final = 100
"""Cells of the density."""

MARGIN: Final = 0.03
"""Of an axis, free at either end, so that no point is cut off."""


@dataclass(frozen=True)
class Axis:
    """From numbers to places on an axis and back."""

    low: float
    """At the place 0: a number, or on a logarithmic axis its log10."""
    high: float
    log: bool

    def places(self, values: Float64Array) -> Float64Array:
        """Places of numbers, 0 to 1 within the axis; NaN for what has none. Shape (n,)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            on_axis = np.log10(values) if self.log else np.asarray(values, np.float64)
            found = (on_axis / 2 - self.low / 2) / (self.high / 2 - self.low / 2)  # halves, as the span of floats may be none
        return np.where(np.isfinite(found), found, np.nan)

    def on_axis(self, place: float) -> float:
        """The number at a place, on a logarithmic axis its log10; rounded to what a screen can resolve."""
        return self.rounded(self.low * (1 - place) + self.high * place)

    def rounded(self, value: float) -> float:
        """A number of the axis with no more decimals than a thousandth of its length needs."""
        apart = self.high / 1000 - self.low / 1000
        decimals = -int(np.floor(np.log10(apart))) if 0 < apart < np.inf else 0
        return round(value, decimals) + 0.0  # no -0.0

    def value(self, place: float) -> float:
        """The number at a place, rounded likewise."""
        at = self.on_axis(place)
        if not self.log:
            return at
        with np.errstate(over="ignore"):
            return float(f"{np.float64(10) ** at:.4g}")


def axis_of(values: Float64Array, *, log: bool) -> Axis:
    """The axis that holds all finite values, with a margin; on a logarithmic one those above zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        on_axis = np.log10(values) if log else np.asarray(values, np.float64)
    known = on_axis[np.isfinite(on_axis)]
    if not known.size:
        return Axis(0.0, 1.0, log)
    low, high = float(known.min()), float(known.max())
    if low == high:
        around = abs(low) * 0.1 or 1.0
        return Axis(low - around, high + around, log)
    with np.errstate(over="ignore"):
        margin = (high / 2 - low / 2) * 2 * MARGIN
        largest = float(np.finfo(np.float64).max)
        return Axis(max(low - margin, -largest), min(high + margin, largest), log)


@dataclass(frozen=True)
class ScatterPoints:
    """Rollouts between two axes."""

    x_axis: Axis
    y_axis: Axis
    at: NDArray[np.int64]
    """Which of the rollouts that came in these are, (n,) rising."""
    x: Float64Array
    """Places, (n,)."""
    y: Float64Array
    color: Float64Array
    """The third number, (n,); NaN where it is missing."""
    missing: int
    """Rollouts without a finite x or y."""
    unplaced: int
    """Rollouts that a logarithmic axis has no place for: not above zero."""


def scatter_points(
    x: Float64Array, y: Float64Array, color: Float64Array | None, *, log_x: bool, log_y: bool, one_axis: bool = False
) -> ScatterPoints:
    """The rollouts that have both numbers; arrays (rollouts,), NaN or infinite where a number is missing.

    With `one_axis` both numbers have the same, which holds all of either.
    """
    known = np.isfinite(x) & np.isfinite(y)
    placed = known & ~((x <= 0) & log_x) & ~((y <= 0) & log_y)
    at = np.flatnonzero(placed)
    of_x, of_y = (np.concatenate([x[at], y[at]]),) * 2 if one_axis else (x[at], y[at])
    axes = axis_of(of_x, log=log_x), axis_of(of_y, log=log_y)
    third = np.full(at.size, np.nan) if color is None else np.where(np.isfinite(color[at]), color[at], np.nan)
    return ScatterPoints(
        *axes, at, axes[0].places(x[at]), axes[1].places(y[at]), third, int((~known).sum()), int((known & ~placed).sum())
    )


def density(found: ScatterPoints) -> tuple[NDArray[np.int64], Float64Array]:
    """Rollouts in each cell and the mean of their third number (NaN without one); each (ROWS, COLUMNS), the lowest y first."""
    column, row = (np.clip((one * count).astype(np.int64), 0, count - 1) for one, count in ((found.x, COLUMNS), (found.y, ROWS)))
    cell = row * COLUMNS + column
    counts = np.bincount(cell, minlength=ROWS * COLUMNS)
    known = np.isfinite(found.color)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sums = np.bincount(cell[known], found.color[known], ROWS * COLUMNS)
        means = sums / np.bincount(cell[known], minlength=ROWS * COLUMNS)
    return counts.reshape(ROWS, COLUMNS), np.where(np.isfinite(means), means, np.nan).reshape(ROWS, COLUMNS)


def nearest(found: ScatterPoints, x: float, y: float) -> NDArray[np.int64]:
    """Which of the rollouts that came in lie nearest to a place: all that lie where the nearest does. Empty where there is none."""
    if not found.at.size:
        return found.at
    at = ((found.x - x) ** 2 + (found.y - y) ** 2).argmin()
    there: NDArray[np.int64] = found.at[(found.x == found.x[at]) & (found.y == found.y[at])]
    return there


def color_ends(color: Float64Array) -> tuple[float, float] | None:
    """The ends of the colours: the 1st and the 99th percentile, so that one outlier does not make all others alike; None without a number.

    On either side of zero they lie as far from it, so that colours show the sign.
    """
    known = color[np.isfinite(color)]
    if not known.size:
        return None
    low, high = (float(end) for end in np.quantile(known, [0.01, 0.99]))
    if low == high:
        low, high = float(known.min()), float(known.max())
    if low < 0 < high:
        return -max(-low, high), max(-low, high)
    return low, high


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


def simplified(corners: Sequence[Corner]) -> list[Corner]:
    """The polygon with at most MOST_CORNERS corners: again and again the one goes that spans the smallest triangle with its neighbours.

    Visvalingam and Whyatt, Line generalisation by repeated elimination of points (1993). At least three corners stay.
    """
    simple = [corner for corner, before in zip(corners, [None, *corners], strict=False) if corner != before]
    while len(simple) > MOST_CORNERS:
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
