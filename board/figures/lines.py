"""The parts of a curve: its line, its band, what a point says, and its name at the end.

Draws arrays that are ready; knows nothing of how they came about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.figures.chart import Spec
from board.figures.downsampling import standing_alone
from board.figures.theme import plain, tint
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt, with_all_digits

_LABEL_PIXELS: Final = 15
_PLOT_PIXELS: Final = 200
"""Height of a label, and roughly of the plot, to keep labels of lines that end together apart."""


@dataclass(frozen=True)
class DrawnCurve:
    """A series ready to draw: every array has one value per step kept, NaN where the step has none."""

    name: str
    color: str
    dash: str
    steps: NDArray[np.int64] | Float64Array
    """Whole numbers, but where runs are laid over each other by another measure: rising."""
    line: Float64Array
    raw: Float64Array
    """Before smoothing."""
    low: Float64Array
    high: Float64Array
    mean: Float64Array
    """As it is: neither smoothed nor shifted."""
    count: NDArray[np.int64]
    """Values the mean is of; -1 where that is not told."""
    total: int
    """Steps before thinning."""


def line(curve: DrawnCurve, unit: str) -> Spec:
    """The line itself, and a point for each step that stands alone. Markers are slow to draw, so no others are there."""
    alone = standing_alone(curve.line)
    points = {
        "mode": "lines+markers",
        "marker": {"color": curve.color, "size": np.where(alone, 6, 0), "opacity": 1, "line": {"width": 0}},
    }
    return {
        "type": "scatter",
        "x": curve.steps,
        "y": curve.line,
        "name": plain(curve.name),
        "line": {"color": curve.color, "width": 2, "dash": curve.dash},
        **(points if alone.any() else {"mode": "lines"}),
        "text": _hover_texts(curve, unit),
        "hovertemplate": "%{text}",
    }


def unsmoothed(curve: DrawnCurve) -> Spec:
    """The line before smoothing, thin and pale."""
    return {
        "type": "scatter",
        "x": curve.steps,
        "y": curve.raw,
        "mode": "lines",
        "line": {"color": tint(curve.color, 0.4), "width": 1},
        "hoverinfo": "skip",
        "showlegend": False,
        "name": plain(f"{curve.name}, not smoothed"),
    }


def band_area(curve: DrawnCurve, alpha: float) -> Spec:
    """One closed outline per stretch of steps without a gap, NaN between them."""
    gap, x, y = np.array([np.nan]), [np.empty(0)], [np.empty(0)]
    known = np.flatnonzero(~np.isnan(curve.low) & ~np.isnan(curve.high))
    lone = 0.2 * float(np.diff(curve.steps).min()) if curve.steps.size > 1 else 0.03
    for stretch in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1):
        steps = curve.steps[stretch].astype(np.float64)
        low, high = curve.low[stretch], curve.high[stretch]
        if steps.size == 1:  # an outline needs some width to be seen
            steps, low, high = steps + np.array([-lone, lone]), low.repeat(2), high.repeat(2)
        x += [steps, steps[::-1], gap]
        y += [low, high[::-1], gap]
    return {
        "type": "scatter",
        "x": np.concatenate(x),
        "y": np.concatenate(y),
        "fill": "toself",
        "fillcolor": tint(curve.color, alpha),
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
        "name": plain(f"{curve.name}, band"),
    }


def _hover_texts(curve: DrawnCurve, unit: str) -> list[str]:
    """What each point says: where it is drawn if that is not its mean, the mean, the band, the number of values."""
    texts = []
    for y, mean, low, high, count in zip(curve.line, curve.mean, curve.low, curve.high, curve.count, strict=True):
        drawn = f"{fmt(y)} drawn, mean " if y != mean else ""
        band = f", band {fmt(low)} to {fmt(high)}" if low == low else ""
        texts.append(plain(drawn + with_all_digits(mean, unit) + band + (f", n {count:,}" if count >= 0 else "")))
    return texts


def _last_point(curve: DrawnCurve) -> tuple[int, float]:
    """Step and value of the last point that has one."""
    at = np.flatnonzero(~np.isnan(curve.line))[-1]
    return int(curve.steps[at]), float(curve.line[at])


def name_lines(layout: Spec, curves: Sequence[DrawnCurve], labels: Sequence[str]) -> None:
    """Name each line at its end, in the page's own text colour; labels of lines that end together are moved apart.

    An empty label names a line that needs no name; without any labels there is a legend.
    """
    layout |= {"showlegend": not labels, "legend": {"orientation": "h", "yanchor": "top", "y": -0.2}}
    if not any(labels):
        return
    drawn = np.concatenate([array for curve in curves for array in (curve.line, curve.raw, curve.low, curve.high)])
    span = float(np.nanmax(drawn) - np.nanmin(drawn)) or 1.0
    ends = [_last_point(curve) for curve in curves]
    heights = np.array([(value - np.nanmin(drawn)) / span * _PLOT_PIXELS for _, value in ends])
    for (step, value), label, lift in zip(ends, labels, _apart(heights) - heights, strict=True):
        layout["annotations"].append(
            {
                "x": step,
                "y": value,
                "text": plain(label),
                "showarrow": False,
                "xanchor": "left",
                "xshift": 6,
                "yshift": float(lift),
                "font": {"size": 12},
            }
        )


def _apart(heights: Float64Array) -> Float64Array:
    """Heights in pixels, moved up where needed so that neighbours are a label apart, then all down by half the largest move."""
    order = np.argsort(heights, kind="stable")
    steps = np.arange(heights.size) * _LABEL_PIXELS
    moved = np.empty_like(heights)
    moved[order] = np.maximum.accumulate(heights[order] - steps) + steps
    return moved - float(np.max(moved - heights)) / 2
