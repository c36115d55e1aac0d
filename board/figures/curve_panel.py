"""A panel of curves over steps as numbers and words, whatever it is drawn with."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array


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
