"""Payload of a scatter: places as one Arrow table, and a little JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import pyarrow as pa

from board.analysis.stats.scatter_points import COLUMNS, MOST_POINTS, ROWS, Axis, ScatterPoints, color_ends, density
from board.figures.theme import COLORS
from board.text.counting import plural


@dataclass(frozen=True)
class Names:
    """What the axes and the colours are, on the screen; texts of a run are shown as text."""

    x: str
    y: str
    color: str
    """Empty without one."""
    dot: str = "rollout"
    """What one is, in the board's own words."""


@dataclass(frozen=True)
class Picture:
    """Ready to be sent: `data` as a component of Streamlit takes it, and the dots in it."""

    data: dict[str, Any]
    points: ScatterPoints
    dense: bool
    """Whether density is drawn in place of points."""


_INKS: Final = {"point": COLORS["policy"], "without": COLORS["reference"], "chosen": COLORS["other"]}


def picture(
    points: ScatterPoints,
    names: Names,
    most: int = MOST_POINTS,
    *,
    labels: Sequence[str] = (),
    sides: tuple[str, str] | None = None,
    areas: bool = True,
) -> Picture:
    """The points, or of more than `most` their density.

    Places are float32, far finer than a screen. `labels` appear under the pointer for the first points, as plain text. `sides` draws
    where both numbers are equal, and gives dots of which x is larger the first colour ("#rrggbb"), those of which y is the second: the
    points' third number is the sign of y − x then. `areas` says whether boxes and lassos can be drawn.
    """
    dense = points.at.size > most
    columns = _cells(points) if dense else {"x": points.x, "y": points.y, "color": points.color}
    numbers = pa.table({name: pa.array(values, pa.float32(), from_pandas=False) for name, values in columns.items()})
    ends = color_ends(points.color) if names.color else None
    color: dict[str, Any] | None = None if ends is None else {"label": names.color, "low": ends[0], "high": ends[1]}
    if sides:
        color = {"label": "", "low": -1.0, "high": 1.0, "stops": [sides[0], COLORS["reference"], sides[1]]}
    meta = {
        "kind": "density" if dense else "points",
        "x": _axis(names.x, points.x_axis),
        "y": _axis(names.y, points.y_axis),
        "color": color,
        "columns": COLUMNS if dense else 0,
        "rows": ROWS if dense else 0,
        "said": f"{names.y} against {names.x} of {plural(points.at.size, names.dot)}{_ends(points)}.",
        "dot": names.dot,
        "labels": [] if dense else [*labels],
        "diagonal": _diagonal(points) if sides else None,
        "areas": areas,
        "inks": _INKS,
    }
    stamp = blake2b(repr(meta).encode("utf-8", "surrogatepass"), digest_size=8)
    for values in columns.values():
        stamp.update(np.ascontiguousarray(values, np.float32).tobytes())
    return Picture({"meta": {**meta, "stamp": stamp.hexdigest()}, "numbers": numbers}, points, dense)


def _cells(points: ScatterPoints) -> dict[str, Any]:
    counts, means = density(points)
    return {"count": counts.ravel().astype(np.float32), "mean": means.ravel()}


def _axis(label: str, axis: Axis) -> dict[str, Any]:
    return {"label": label, "low": axis.low, "high": axis.high, "log": axis.log}


def _diagonal(points: ScatterPoints) -> list[list[float]] | None:
    """Where on the two axes, 0 to 1, the line of equal numbers begins and ends; None where no number is on both."""
    x, y = points.x_axis, points.y_axis
    low, high = max(x.low, y.low), min(x.high, y.high)
    if x.log != y.log or low >= high:
        return None
    return [[(end / 2 - axis.low / 2) / (axis.high / 2 - axis.low / 2) for axis in (x, y)] for end in (low, high)]


def _ends(points: ScatterPoints) -> str:
    """From where to where the rollouts reach, in words."""
    if not points.at.size:
        return ""
    spans = [
        f"from {axis.value(float(places.min())):g} to {axis.value(float(places.max())):g}"
        for axis, places in ((points.y_axis, points.y), (points.x_axis, points.x))
    ]
    return f": the first {spans[0]}, the second {spans[1]}"
