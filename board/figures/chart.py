"""A chart ready to be drawn: a Plotly figure as plain dicts, and what the chosen step is marked by on it.

A figure is drawn for all steps at once and never changes with the step, so that choosing another step draws nothing anew. Plain dicts,
because a `go.Figure` checks every property of every assignment: it is made of the whole, once, where charts are kept.
Knows neither data nor screen.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

Spec = dict[str, Any]
"""A Plotly figure, or a part of one, by the names of plotly.js."""


@dataclass(frozen=True)
class ChartLine:
    """A line over steps as drawn before thinning: `y` has one place on the axis per step, NaN where there is none."""

    color: str
    steps: NDArray[np.int64] | Float64Array
    y: Float64Array
    values: Float64Array
    """What is told of each place: `y` itself, but on a logarithmic axis."""
    unit: str = ""
    """What stands behind a value, if that is short: " %"."""


@dataclass(frozen=True)
class Chart:
    """A figure, and what a chosen step is marked on: both empty where x is no step."""

    spec: Spec
    steps: NDArray[np.int64]
    """All steps that x stands for, ascending."""
    lines: tuple[ChartLine, ...] = ()
    cased: bool = False
    """Whether the mark needs a casing, being drawn over colours."""
    brushed: str = ""
    """The column that x is the numbers of, where a stretch of it can be brushed."""


def without_steps(data: list[Spec], layout: Spec, brushed: str = "") -> Chart:
    """A chart whose x is no step; where x is the numbers of the column `brushed`, a drag marks a stretch of them."""
    dragged = {"dragmode": "select", "selectdirection": "h"} if brushed else {}
    return Chart({"data": data, "layout": layout | dragged}, np.empty(0, np.int64), brushed=brushed)


def step_mark(chart: Chart, step: int, *, latest: bool = False) -> Spec | None:
    """Where the chosen step stands on a chart, in the units of its axes; None if the chart does not reach it.

    `x`, the text of its label, a dot of each line that has a value there (`y`, `color` and the value as `text`), and whether the mark
    is cased. With `latest` a line that has no value there has its dot where it last had one (`x`), with that step in its text, and the
    label of a step that the chart lacks is empty.
    """
    known = step in chart.steps
    dots = [dot for line in chart.lines if (dot := _dot(line, step, latest=latest))]
    if not known and not dots:
        return None
    return {"x": step, "text": f"step {step:,}" if known else "", "dots": dots, "cased": chart.cased}


def _dot(line: ChartLine, step: int, *, latest: bool) -> Spec | None:
    """The line's point at the step, or before it where the latest will do."""
    known = np.flatnonzero(np.isfinite(line.y) & (line.steps <= step if latest else line.steps == step))
    if not known.size:
        return None
    at, of = known[-1], int(line.steps[known[-1]])
    dot = {"y": float(line.y[at]), "color": line.color, "text": fmt(float(line.values[at])) + line.unit}
    return dot if of == step else {**dot, "x": of, "text": f"{dot['text']} at step {of:,}"}
