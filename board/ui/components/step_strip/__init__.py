"""The strip of all steps in the top line: a bar each, with marks above them.

The chosen step is marked; a click or a key goes to a step. Bars are drawn without Plotly, whose five megabytes every page would have to
load for them.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import streamlit as st

from board.analysis.steps.step_bars import BarMark, StepBars, bar_of
from board.figures.theme import COLORS
from board.serving import component_scripts
from board.text.format_number import fmt

ERROR: Final = "light-dark(#b91c1c, #f28b82)"

_strip: Final = st.components.v2.component(
    "rl_logging_board.step_strip",
    js=component_scripts.of("step_strip/step_strip.js"),
    css=component_scripts.style("step_strip/step_strip.css"),
)


def show(bars: StepBars, step: int, marks: Sequence[BarMark], *, measure: str, key: str, on_click: Callable[[], None]) -> None:
    """Draw the bars of `measure` ("mean reward"), with that of `step` marked, and above them the marks, each by its shape.

    After a click the component of that key has the number of the bar as `clicked`, from 0, and `on_click` is called.
    """
    known = bars.means[np.isfinite(bars.means)]
    span = f"{fmt(float(known.min()))} to {fmt(float(known.max()))}" if known.size else "none"
    data = {
        "steps": [f"{one:,}" for one in bars.steps.tolist()],
        "means": [fmt(one) if np.isfinite(one) else "none" for one in bars.means.tolist()],
        "heights": [round(one, 4) for one in bars.heights.tolist()],
        "chosen": bar_of(bars, step),
        "measure": measure,
        "caption": f"{measure} by step, {span}",
        "marks": [{"at": mark.bar, "texts": list(mark.texts), "kind": mark.kind} for mark in marks],
        "colors": {"bar": COLORS["reference"], "chosen": COLORS["policy"], "warning": COLORS["above"], "error": ERROR},
    }
    _strip(key=key, data=data, on_clicked_change=on_click)
