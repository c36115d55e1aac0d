"""The runs as tables, one for each group: a click on a run's name opens it, one elsewhere in its row chooses it, a tick lays it beside others.

Draws only.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Literal

import pandas as pd
import streamlit as st

from board.analysis import run_list
from board.analysis.run_list import ListedRun
from board.analysis.run_overlay import MOST_RUNS
from board.figures.theme import COLORS, RUN_COLORS
from board.text.format_number import MISSING, column_format, size
from board.ui import beside_table, place

HEAD_HEIGHT: Final = 35
ROW_HEIGHT: Final = 35
MOST_HEIGHT: Final = 700
"""In pixels; longer tables scroll."""

ROWS_AND_CELL: Final[list[Literal["multi-row", "single-cell"]]] = ["multi-row", "single-cell"]
"""Ticks before the rows, which a click on a cell leaves as they are."""

_NUMBERS: Final = frozenset({"rollouts", "size", "problems", "findings"})
"""Columns of numbers that are written out, because not all are known."""

_HELP: Final = {
    "step": "largest step that was seen",
    "rollouts": "“about”: estimated from the parts that were read",
    "written": "when a file of the run changed last; one that was seen growing in the last ten minutes is training now",
    "problems": "lines that could not be read and things that are odd, known once all of the run was read",
    "findings": "what went wrong in training, known of runs that were open since the board began",
}


def draw(runs: Sequence[ListedRun], metric: str, root: str, key: str, opens: Callable[[ListedRun], None]) -> None:
    """Draw the runs in their order, with what they are coloured; `opens` is called with a run whose name was clicked.

    Those are ticked that the link lays side by side.
    """
    frame = run_list.rows(runs, metric, root)
    frame["size"] = [size(one.folder.bytes) if one.folder.shards else "" for one in runs]
    if any(one.note.colour for one in runs):
        frame.insert(0, "colour", [beside_table.swatch(RUN_COLORS.get(one.note.colour, "")) for one in runs])
    for name in ("tags", "note"):
        if not frame[name].astype(bool).any():
            frame = frame.drop(columns=name)
    ticked = [at for at, one in enumerate(runs) if one.folder.name in place.beside()]
    if _ticked(key) != ticked:
        place.set_widgets(**{key: {"selection": {"rows": ticked, "cells": [], "columns": []}}})
    st.dataframe(
        frame,
        key=key,
        on_select=partial(_clicked, key, runs, opens),
        selection_mode=ROWS_AND_CELL,
        hide_index=True,
        row_height=ROW_HEIGHT,
        placeholder=MISSING,
        height=min(MOST_HEIGHT, HEAD_HEIGHT + ROW_HEIGHT * len(frame) + 3),
        column_config={name: _column(name, frame[name], metric) for name in frame.columns},
    )


def _ticked(key: str) -> list[int]:
    """The rows that are ticked in a table."""
    return sorted((place.widget_value(key) or {}).get("selection", {}).get("rows", []))


def _clicked(key: str, runs: Sequence[ListedRun], opens: Callable[[ListedRun], None]) -> None:
    ticked = [runs[row].folder.name for row in _ticked(key) if row < len(runs)]
    before = [one.folder.name for one in runs if one.folder.name in place.beside()]
    if {*ticked} != {*before}:
        kept = [name for name in place.beside() if name in ticked or name not in before]
        place.go(beside=tuple(dict.fromkeys([*kept, *ticked]))[:MOST_RUNS] or None)
        return
    row, column = place.clicked_cell(key) or (len(runs), "")
    if row >= len(runs):
        return
    if column == "run":
        opens(runs[row])
    else:
        place.go(run=runs[row].folder.name)


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
    if name == "written" and values.str.contains("·").any():
        return config.TextColumn("last written", help=told, width=210)
    side: Literal["left", "right"] = "right" if name in _NUMBERS else "left"
    return config.TextColumn({"written": "last written"}.get(name, name), help=told, alignment=side)
