"""Curves over training steps: panels as numbers and words, whatever they are drawn with, and the mean with a band, smoothed or shifted.

Statistics come in as frames of `board.analysis.steps.step_stats.per_step`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.step_stats import first_finite, smooth
from board.errors import FieldMissing
from board.metrics.formulas import Float64Array
from board.text.format_number import exact


@dataclass(frozen=True)
class DrawnCurve:
    """A series ready to draw: every array has one value per step drawn, NaN where the step has none."""

    name: str
    color: str
    dash: str
    steps: NDArray[np.int64] | Float64Array
    """Whole numbers, but where runs are overlaid by another measure: rising."""
    line: Float64Array
    raw: Float64Array
    """Before smoothing."""
    low: Float64Array
    high: Float64Array
    mean: Float64Array
    """As it is: neither smoothed nor shifted."""
    count: NDArray[np.int64]
    """Values the mean is of; -1 where that is unknown."""
    total: int
    """Steps before thinning."""


@dataclass(frozen=True)
class Healthy:
    """The bounds of the healthy range, None where there is none, and (step, value) where it is first left."""

    low: float | None = None
    high: float | None = None
    left_at: tuple[int, float] | None = None


@dataclass(frozen=True)
class CurvePanel:
    """Curves that share an axis of values: those that are drawn over others come last."""

    title: str
    unit: str
    curves: tuple[DrawnCurve, ...]
    """Whole, nothing thinned. On a logarithmic axis what has no place there is missing."""
    drawn: str = ""
    """What is drawn with the means, and how: "mean ± std · smoothed 0.6"."""
    note: str = ""
    """What of the numbers cannot be drawn."""
    log: bool = False
    healthy: Healthy | None = None
    from_zero: bool = False
    """Whether zero is on the axis in any case."""
    runs: bool = False
    """Whether each curve is of another run: their names stand below the plot, with their values where the crosshair or the chosen step is."""


Band = Literal["none", "std", "quantiles", "min-max"]

DASHES: Final = ("solid", "dot", "dash", "dashdot")
"""Lines of one colour take these in turn, so that they differ without it."""

OF_ALL: Final = ("dash", "longdash", "dashdot")
"""Dashes of lines of all rollouts, drawn with those of the rollouts that a filter leaves."""

_BAND_TEXTS: Final[dict[Band, str]] = {
    "std": "mean ± {}std",
    "quantiles": "mean and {}10 to 90 %",
    "min-max": "mean and {}minimum to maximum",
}


@dataclass(frozen=True)
class CurveSeries:
    """One line: its name on the screen, the statistics per step to draw, and its colour ("#rrggbb")."""

    name: str
    stats: pd.DataFrame
    """Index step ascending; needs `mean`, a band also its own columns; `count` is shown on hover where it is there."""
    color: str
    of_all: bool = False
    """Whether it is of all rollouts, drawn with a line of those that a filter leaves: it is dashed."""


@dataclass(frozen=True)
class _Drawing:
    """What the reader chose; fields as the arguments of `step_panel`."""

    band: Band
    band_scale: float
    smoothing: float
    zero_shift: bool


def step_panel(
    series: Sequence[CurveSeries],
    band: Band | None = None,
    title: str = "",
    unit: str = "",
    smoothing: float = 0.0,
    zero_shift: bool = False,
    band_scale: float = 1.0,
    from_zero: bool = False,
) -> CurvePanel:
    """Means by step, with gaps where a step has none, as one panel.

    The band's distance from the mean is multiplied by `band_scale`. `smoothing` is the weight of `step_stats.smooth`, for lines
    and bands; the unsmoothed line stays. `zero_shift` starts each line at zero, `from_zero` has zero on the axis in any case.
    Raises FieldMissing if no series has a finite mean.
    """
    known = [one for one in series if np.isfinite(one.stats["mean"]).any()]
    if not known:
        raise FieldMissing(
            f"This needs {' or '.join(one.name for one in series) or 'a column'}, which has no number in any step."
        )
    drawing = _Drawing(band or "none", band_scale, smoothing, zero_shift)
    curves = tuple(_curve(one, _dash(known, at), drawing) for at, one in enumerate(known))
    return CurvePanel(title, unit, curves, _drawn(drawing), from_zero=from_zero)


def band_edges(stats: pd.DataFrame, band: Band, scale: float) -> tuple[Float64Array, Float64Array]:
    """Lower and upper edge by step: the band's own, their distance from the mean multiplied by `scale`. NaN for no band."""
    mean = stats["mean"].to_numpy(np.float64)
    if band == "none":
        return np.full(mean.size, np.nan), np.full(mean.size, np.nan)
    if band == "std":
        spread = stats["std"].to_numpy(np.float64) * scale
        return mean - spread, mean + spread
    low, high = (stats[name].to_numpy(np.float64) for name in (("q10", "q90") if band == "quantiles" else ("min", "max")))
    return mean + (low - mean) * scale, mean + (high - mean) * scale


def _curve(one: CurveSeries, dash: str, drawing: _Drawing) -> DrawnCurve:
    """The series shifted and smoothed, in this order."""
    steps, mean = one.stats.index.to_numpy(np.int64), one.stats["mean"].to_numpy(np.float64)
    origin = first_finite(mean) if drawing.zero_shift else 0.0
    raw = smooth(mean - origin, 0.0)
    low, high = (smooth(edge - origin, drawing.smoothing) for edge in band_edges(one.stats, drawing.band, drawing.band_scale))
    count = one.stats["count"].fillna(-1).to_numpy(np.int64) if "count" in one.stats else np.full(steps.size, -1)
    smoothed = smooth(raw, drawing.smoothing)
    return DrawnCurve(one.name, one.color, dash, steps, smoothed, raw, low, high, mean, count, steps.size)


def _dash(series: Sequence[CurveSeries], at: int) -> str:
    own = series[at]
    dashes = OF_ALL if own.of_all else DASHES
    return dashes[sum((one.color, one.of_all) == (own.color, own.of_all) for one in series[:at]) % len(dashes)]


def _drawn(drawing: _Drawing) -> str:
    factor = "" if drawing.band_scale == 1 else f"{exact(drawing.band_scale)} × "
    parts = [
        _BAND_TEXTS[drawing.band].format(factor) if drawing.band != "none" else "",
        f"smoothed {exact(drawing.smoothing)}" if drawing.smoothing else "",
        "from the first value" if drawing.zero_shift else "",
    ]
    return " · ".join(part for part in parts if part)
