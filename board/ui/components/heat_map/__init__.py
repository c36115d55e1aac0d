"""A table of numbers as a picture, steps to the right; a click or Enter chooses a cell."""

import base64
from collections.abc import Callable, Sequence
from typing import Final, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from board.serving import component_scripts

_map: Final = st.components.v2.component(
    "rl_logging_board.heat_map",
    js=component_scripts.of("heat_map/heat_map.js"),
    css=component_scripts.style("heat_map/heat_map.css"),
)


def show(
    values: NDArray[np.float64],
    *,
    columns: Sequence[str],
    rows: Sequence[str],
    scale: Literal["diverging", "sequential"],
    ends: tuple[float, float],
    chosen: tuple[int | None, int | None],
    label: str,
    unit: str,
    key: str,
    on_click: Callable[[], None],
) -> None:
    """Draw `values` (columns, rows), NaN as nothing, in colours between `ends`; `chosen` are a column and a row to mark.

    After a click the component of that key has "column,row" as `clicked`, from 0, and `on_click` is called.
    """
    data = {
        "values": base64.b64encode(np.ascontiguousarray(values, np.float32).tobytes()).decode(),
        "columns": [*columns],
        "rows": [*rows],
        "scale": scale,
        "ends": [*ends],
        "chosen": [*chosen],
        "label": label,
        "unit": unit,
    }
    _map(key=key, data=data, on_clicked_change=on_click)
