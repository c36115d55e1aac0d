"""Counts as bars on a logarithmic scale, so that one token among millions is seen."""

from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st

from board.figures.theme import COLORS
from board.serving import component_scripts

_bars: Final = st.components.v2.component(
    "rl_logging_board.count_bars",
    js=component_scripts.of("count_bars/count_bars.js"),
    css=component_scripts.style("count_bars/count_bars.css"),
)


def show(
    edges: Sequence[float],
    counts: Sequence[int],
    *,
    chosen: int | None,
    label: str,
    unit: str,
    key: str,
    on_click: Callable[[], None],
) -> None:
    """Draw the bars between `edges`, one more than `counts`, with the chosen one marked; `label` says what they are to a screen reader.

    After a click the component of that key has the bar's number as `clicked`, from 0, and `on_click` is called.
    """
    colors = {"bar": COLORS["reference"], "chosen": COLORS["policy"]}
    data = {"edges": [*edges], "counts": [*counts], "chosen": chosen, "label": label, "unit": unit, "colors": colors}
    _bars(key=key, data=data, on_clicked_change=on_click)
