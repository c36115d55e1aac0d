"""A table whose rows lead somewhere: sorted, searched and copied in the browser."""

from collections.abc import Callable, Mapping
from typing import Final

import pandas as pd
import streamlit as st

from board.serving import component_scripts
from board.ui.components.table.columns import TableColumn
from board.ui.components.table.payload import build

ROW_HEIGHT: Final = 35
"""Pixels of a row of one line."""

_table: Final = st.components.v2.component(
    "rl_logging_board.table", js=component_scripts.of("table/table.js"), css=component_scripts.style("table/table.css")
)
_choice: Final = st.components.v2.component("rl_logging_board.table_choice", js=component_scripts.of("table/choice_bridge.js"))


def show(
    frame: pd.DataFrame,
    columns: Mapping[str, TableColumn],
    *,
    name: str,
    key: str,
    on_click: Callable[[], None] | None = None,
    chosen: int | None = None,
    row_height: int = ROW_HEIGHT,
    height: int | None = None,
    sorted_by: tuple[str, bool] | None = None,
    on_tick: Callable[[], None] | None = None,
) -> None:
    """Draw the frame's rows in their order, the `chosen` one marked; `columns` says how its columns are shown, those that are not plain.

    `name` says what is listed ("rollouts") and under what name it is saved, `key` belongs to one table of a page. It is at most `height`
    pixels tall, or, without one, ends where the window does. After a click on a row the component of that key has its number, from 0 in the
    order given, and the column as `clicked` ({"row": …, "column": …}); after one on the head of a column that `sorts` its name as `sorted`;
    `on_click` is called after either; without it rows lead nowhere. After one on a box it has `ticked` ({"row": …, "on": …}), and `on_tick` is
    called.
    """
    data = build(
        frame, columns, name=name, key=key, row_height=row_height, height=height, sorted_by=sorted_by, leads=bool(on_click)
    )
    handler = on_click or _nothing
    _table(key=key, data=data, on_clicked_change=handler, on_sorted_change=handler, on_ticked_change=on_tick or _nothing)
    _choice(key=f"chosen_in_{key}", data={"key": key, "row": chosen})


def _nothing() -> None:
    """A trigger is only reported where a callback is named."""


__all__ = ["ROW_HEIGHT", "TableColumn", "build", "show"]
