"""Marks the chosen step on charts over all steps, and reports the step of a click.

The marks lie over the charts and are moved in the browser: a figure that had the chosen step in it would be built anew on the server and in
the browser with every step. Draws nothing itself.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from board.serving import component_scripts

_marks: Final = st.components.v2.component(
    "rl_logging_board.step_marks",
    js=component_scripts.of("step_marks/step_marks.js"),
)


def show(marks: Mapping[str, Mapping[str, Any] | None], *, key: str, on_click: Callable[[], None]) -> None:
    """Mark charts, by their keys: None for one that can be clicked but does not reach the step.

    Marks are those of `board.figures`. Within one page `key` belongs to one set of charts; after a click in one of them the component of
    that key has the x of it as `clicked`, and `on_click` is called.
    """
    data = {"marks": {chart: None if mark is None else dict(mark) for chart, mark in marks.items()}}
    _marks(key=key, data=data, on_clicked_change=on_click)
