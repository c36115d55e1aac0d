"""A table with a row for each run that lies beside others: its colour, its name, and what is told of it. Draws only."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st

from board.analysis.distribution_shift import Estimate
from board.text.format_number import MISSING, column_format, fmt
from board.ui.run_looks import RunLook

NAME: Final = "run"
TEXTS: Final = frozenset({"settings from"})


def swatch(color: str) -> str:
    """A picture of a colour, "#rrggbb" or none, for a column of pictures. Made here: no text of a run is in it."""
    if not color:
        return ""
    fill = color.replace("#", "%23")
    return f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><circle cx='4.5' cy='4.5' r='3' fill='{fill}'/></svg>"


def draw(runs: Sequence[RunLook], told: pd.DataFrame, key: str, helps: Mapping[str, str] | None = None) -> None:
    """The table; `told` has a row for each run in the same order, and `helps` says what some of its columns are. TEXTS stand to the left."""
    looks = {"colour": [swatch(one.color) for one in runs], NAME: [one.name for one in runs]}
    frame = pd.concat([pd.DataFrame(looks), told.reset_index(drop=True)], axis=1)
    config: dict[str, Any] = {
        "colour": st.column_config.ImageColumn("", width=34),
        NAME: st.column_config.TextColumn(width=170),
        **{str(name): _column(str(name), told[name], (helps or {}).get(str(name))) for name in told.columns},
    }
    st.dataframe(frame, key=key, hide_index=True, placeholder=MISSING, column_config=config, height="content")


def _column(name: str, values: "pd.Series[Any]", told: str | None) -> Any:
    if pd.api.types.is_numeric_dtype(values):
        return st.column_config.NumberColumn(format=column_format(values.to_numpy(float)), help=told)
    return st.column_config.TextColumn(alignment="left" if name in TEXTS else "right", help=told)


def interval(of: Estimate) -> str:
    """A difference with its interval, "+0.12 (0.05 to 0.19)"; empty where it is not known."""
    if of.value != of.value:
        return ""
    low, high = (fmt(end, 3 if abs(end) >= 1 else 2) for end in (of.low, of.high))
    return f"{signed(of.value)} ({low} to {high})" if of.low == of.low else signed(of.value)


def signed(value: float) -> str:
    """A difference with its sign."""
    return f"{'+' if value > 0 else ''}{fmt(value)}"
