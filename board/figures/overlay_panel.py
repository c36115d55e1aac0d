"""A panel of curves in which several runs are overlaid, each in its one colour."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from board.analysis.compare.overlay_lines import OverlayLine
from board.analysis.steps.step_stats import smooth
from board.errors import FieldMissing
from board.figures.curves import DASHES, CurvePanel, DrawnCurve, Healthy
from board.metrics.formulas import Float64Array
from board.text.format_number import exact

BAND: Final = "95 % interval by bootstrap over prompts"
NO_BAND: Final = "no interval, being no mean over prompts"
MOST_UNSMOOTHED: Final = 3
"""Of more lines that are smoothed those before smoothing are not drawn: they would hide each other."""

SEEDS: Final = "mean of seeds, Student's 95 % interval"


def overlay_panel(
    lines: Sequence[OverlayLine],
    *,
    title: str,
    unit: str = "",
    band: bool = True,
    smoothing: float = 0.0,
    log: bool = False,
    healthy: Healthy | None = None,
    baseline: str = "",
    notes: Sequence[str] = (),
) -> CurvePanel:
    """The lines, the first on top; with a `baseline`, its name, they are differences to it, and zero is on the axis.

    `smoothing` is the weight of `step_stats.smooth`, for lines and bands alike. On a logarithmic axis what is not above zero is
    missing. Raises FieldMissing where no line has a number.
    """
    known = [line for line in lines if np.isfinite(line.curve["value"]).any()]
    if not known:
        raise FieldMissing("No run has a number that can be drawn on this axis.")
    log = log and not baseline
    curves = tuple(_curve(line, _dash(known, at), smoothing, band=band, log=log) for at, line in enumerate(known))
    if len(curves) > MOST_UNSMOOTHED:
        curves = tuple(replace(curve, raw=curve.line) for curve in curves)
    drawn = _drawn(known, band=band, smoothing=smoothing, baseline=baseline)
    note = " ".join(filter(None, notes))
    return CurvePanel(title, unit, curves[::-1], drawn, note, log, None if baseline else healthy, bool(baseline), runs=True)


def _drawn(lines: Sequence[OverlayLine], *, band: bool, smoothing: float, baseline: str) -> str:
    by_itself = [line for line in lines if not line.counted]
    banded = any(np.isfinite(line.curve["low"]).any() for line in by_itself)
    parts = [
        f"minus {baseline}" if baseline else "",
        (BAND if banded else NO_BAND) if band and by_itself else "",
        SEEDS if any(line.counted for line in lines) else "",
        f"smoothed {exact(smoothing)}" if smoothing else "",
    ]
    return " · ".join(part for part in parts if part)


def _curve(line: OverlayLine, dash: str, smoothing: float, *, band: bool, log: bool) -> DrawnCurve:
    def drawn(name: str, weight: float) -> Float64Array:
        values = line.curve[name].to_numpy(np.float64)
        return smooth(np.where(values > 0, values, np.nan) if log else values, weight)

    value = drawn("value", 0.0)
    shown = band or line.counted
    low, high = (drawn(name, smoothing) if shown else np.full(value.size, np.nan) for name in ("low", "high"))
    name = f"{line.name} ({line.counted} runs)" if line.counted else line.name
    at, none = line.curve["at"].to_numpy(np.float64), np.full(value.size, -1)
    return DrawnCurve(name, line.color, dash, at, smooth(value, smoothing), value, low, high, value, none, value.size)


def _dash(lines: Sequence[OverlayLine], at: int) -> str:
    """Lines that a reader coloured alike differ in their dashes."""
    return DASHES[sum(line.color == lines[at].color for line in lines[:at]) % len(DASHES)]
