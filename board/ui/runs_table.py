"""The runs as tables, one for each group: a click on a run's name opens it, one elsewhere in its row chooses it. Draws only."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st

from board.analysis import run_list
from board.analysis.run_list import ListedRun
from board.figures.theme import COLORS
from board.text.format_number import MISSING, column_format, size
from board.ui import place

HEAD_HEIGHT: Final = 35
ROW_HEIGHT: Final = 35
MOST_HEIGHT: Final = 700
"""In pixels; longer tables scroll."""

SWATCHES: Final = {
    "teal": "#12908a",
    "orange": "#d9730d",
    "blue": "#3f7fdb",
    "violet": "#8f63d2",
    "pink": "#c0569b",
    "ochre": "#a88a00",
    "grey": "#838b95",
    "green": "#3d8f3d",
}
"""What the colours look like that a run can have: 3:1 or more on the light and on the dark page."""

_HELP: Final = {
    "step": "largest step that was seen",
    "rollouts": "“about”: estimated from the parts that were read",
    "written": "when a file of the run changed last; within ten minutes it is taken to be training",
    "problems": "lines that could not be read and things that are odd, known once all of the run was read",
    "findings": "what went wrong in training, known of runs that were open since the board began",
}


def draw(runs: Sequence[ListedRun], metric: str, root: str, key: str, opens: Callable[[ListedRun], None]) -> None:
    """Draw the runs in their order, with what they are coloured; `opens` is called with a run whose name was clicked."""
    frame = run_list.rows(runs, metric, root)
    frame["size"] = [size(one.folder.bytes) if one.folder.shards else "" for one in runs]
    if any(one.note.colour for one in runs):
        frame.insert(0, "colour", [_swatch(one.note.colour) for one in runs])
    for name in ("tags", "note"):
        if not frame[name].astype(bool).any():
            frame = frame.drop(columns=name)
    st.dataframe(
        frame,
        key=key,
        on_select=partial(_clicked, key, runs, opens),
        selection_mode=place.ROW_OR_CELL,
        hide_index=True,
        row_height=ROW_HEIGHT,
        placeholder=MISSING,
        height=min(MOST_HEIGHT, HEAD_HEIGHT + ROW_HEIGHT * len(frame) + 3),
        column_config={name: _column(name, frame[name], metric) for name in frame.columns},
    )


def _clicked(key: str, runs: Sequence[ListedRun], opens: Callable[[ListedRun], None]) -> None:
    row = place.clicked_row(key)
    if row is None or row >= len(runs):
        return
    if place.clicked_column(key) == "run":
        opens(runs[row])
    else:
        place.go(run=runs[row].folder.name)


def _swatch(colour: str) -> str:
    """A picture of a colour, made here: no text of a run is in it."""
    if colour not in SWATCHES:
        return ""
    fill = SWATCHES[colour].replace("#", "%23")
    return f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><circle cx='4.5' cy='4.5' r='3' fill='{fill}'/></svg>"


def _column(name: str, values: "pd.Series[Any]", metric: str) -> Any:
    """How the table shows a column. Heads are read as Markdown, and a number's name is a trainer's: it stands in the choice above."""
    config, told = st.column_config, _HELP.get(name)
    if name == "colour":
        return config.ImageColumn("", width=34)
    if name == "run":
        return config.TextColumn(width=250)
    if name == "curve":
        called = "reward by step" if metric == "reward" else "curve by step"
        return config.LineChartColumn(called, width=130, color=COLORS["policy"])
    if name == "value":
        return config.NumberColumn(
            "last", format=column_format(values.to_numpy(float)), help="its mean at the last step that has it"
        )
    if name == "step":
        return config.NumberColumn("last step", format="%d", help=told)
    if name == "tags":
        return config.ListColumn()
    return config.TextColumn({"written": "last written"}.get(name, name), help=told)
