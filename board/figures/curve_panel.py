"""A panel of curves over steps as numbers and words, whatever it is drawn with. Knows nothing of where its numbers come from."""

from dataclasses import dataclass

from board.figures.lines import DrawnCurve


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
    """What is drawn beside the means, and how: "mean ± std · smoothed 0.6"."""
    note: str = ""
    """What of the numbers cannot be drawn."""
    log: bool = False
    healthy: Healthy | None = None
    from_zero: bool = False
    """Whether zero is on the axis in any case."""
    runs: bool = False
    """Whether each curve is of another run: their names stand below the plot, with their values where the crosshair or the chosen step is."""
