"""A chart ready to be drawn: a Plotly figure as plain dicts, and what the chosen step is marked by on it.

A figure is drawn for all steps at once and never changes with the step, so that choosing another step draws nothing anew. Plain dicts,
because a `go.Figure` checks every property of every assignment: a page of them costs half a second. The tests check them all.
Knows neither data nor screen.
"""

import base64
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

Spec = dict[str, Any]
"""A Plotly figure, or a part of one, by the names of plotly.js."""

_TYPED: Final = {"i": "i4", "f": "f8"}
"""Kinds of numpy numbers and the typed arrays of plotly.js that they travel as."""


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


class Ready(go.Figure):  # type: ignore[misc]
    """A figure that is handed on as it is: neither checked nor copied. For `st.plotly_chart`, which checks dicts but asks a Figure for one."""

    def __init__(self, spec: Spec) -> None:
        """Numbers are packed here, once; `spec` is not changed."""
        layout = {"template": _template(str(pio.templates.default)), **_packed(spec["layout"])}
        self._ready = {"data": _packed(spec["data"]), "layout": layout}

    def to_dict(self) -> Spec:
        """The figure; its traces are new dicts, because Plotly takes a property out of each."""
        return {"data": [dict(trace) for trace in self._ready["data"]], "layout": self._ready["layout"]}


@cache
def _template(name: str) -> Spec:
    """The look that is on while the figure is built: Streamlit puts its own in, and looks for it in each figure."""
    template: Spec = pio.templates[name].to_plotly_json()
    return template


def _packed(part: Any) -> Any:
    """A part of a figure with its arrays as plotly.js reads them fastest."""
    if isinstance(part, dict):
        return {name: _packed(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_packed(value) for value in part] if part and isinstance(part[0], dict) else part
    if not isinstance(part, np.ndarray):
        return part
    kind = _TYPED.get(part.dtype.kind)
    if kind is None or not part.size:
        return part.tolist()
    narrow = part.astype(kind)
    if kind == "i4" and (narrow != part).any():  # a step beyond 32 bits
        narrow, kind = part.astype("f8"), "f8"
    shape = {"shape": ", ".join(map(str, part.shape))} if part.ndim > 1 else {}
    return {"dtype": kind, "bdata": base64.b64encode(np.ascontiguousarray(narrow).data).decode("ascii"), **shape}
