"""A chart ready to be drawn: a Plotly figure as plain dicts, and the step's mark.

A figure is drawn for all steps at once and never changes with the step, so that choosing another step draws nothing anew. Plain dicts,
because a `go.Figure` checks every property of every assignment: it is made of the whole, once, where charts are cached.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Spec = dict[str, Any]
"""A Plotly figure, or a part of one, by the names of plotly.js."""


@dataclass(frozen=True)
class Chart:
    """A figure, and what a chosen step is marked on: both empty where x is no step."""

    spec: Spec
    steps: NDArray[np.int64]
    """All steps that x stands for, ascending."""
    cased: bool = False
    """Whether the mark needs a casing, being drawn over colours."""
    brushed: str = ""
    """The column that x is the numbers of, where a stretch of it can be brushed."""


def without_steps(data: list[Spec], layout: Spec, brushed: str = "") -> Chart:
    """A chart whose x is no step; where x is the numbers of the column `brushed`, a drag marks a stretch of them."""
    dragged = {"dragmode": "select", "selectdirection": "h"} if brushed else {}
    return Chart({"data": data, "layout": layout | dragged}, np.empty(0, np.int64), brushed=brushed)


def step_mark(chart: Chart, step: int) -> Spec | None:
    """Where the chosen step stands on a chart: `x`, its label, no dots, and whether the mark is cased; None if the chart lacks the step."""
    return {"x": step, "text": f"step {step:,}", "dots": [], "cased": chart.cased} if step in chart.steps else None
