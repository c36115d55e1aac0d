"""Plotly charts, whose megabytes of script are loaded when the reader scrolls to one."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from board.sql import identifiers
from board.ui.components import in_view
from board.ui.state import filter_chips, place
from board.ui.state.caches import DrawnChart

PANEL_WIDTH: Final = 420
"""Charts stand side by side while each has so many pixels."""


@st.fragment
def draw(charts: Mapping[str, DrawnChart], columns: int = 2) -> None:
    """The charts, by their keys on this page: each once its place came into the window, and until then an empty place of its height.

    All of a page in one call: Streamlit answers one fragment at a time, and several places may come into the window at once. A stretch that
    is brushed becomes a condition of the filter.
    """
    if place.remembered("brushed"):  # the filter is the whole page's
        place.remember(brushed=None)
        place.draw_anew()
    grid = st.grid(columns, min_column_width=PANEL_WIDTH, gap="medium")
    for key, drawn in charts.items():
        with grid.cell():
            seen = bool(place.reported(f"{key}_place", "seen"))
            in_view.reached(0 if seen else int(drawn.chart.spec["layout"]["height"]), key=f"{key}_place")
            if seen:
                _chart(key, drawn)


def _chart(key: str, drawn: DrawnChart) -> None:
    column = drawn.chart.brushed
    config = {"displayModeBar": False}
    if not column:
        st.plotly_chart(drawn.figure, key=key, config=config)
        return

    def brush() -> None:
        boxes = (place.reported(key, "selection") or {}).get("box") or []
        if boxes:
            low, high = sorted(float(end) for end in boxes[0]["x"])
            filter_chips.add(f"{identifiers.column(column)} BETWEEN {low:.6g} AND {high:.6g}")
            place.remember(brushed=True)

    st.plotly_chart(drawn.figure, key=key, config=config, on_select=brush, selection_mode="box")
