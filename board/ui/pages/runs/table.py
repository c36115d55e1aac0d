"""Tables of runs, one for each group.

A click on a run's name opens it, one elsewhere in its row chooses it, a tick compares it. Draws only.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import pandas as pd

from board.analysis.compare import run_list
from board.analysis.compare.run_list import ListedRun
from board.figures.theme import COLORS, RUN_COLORS
from board.text.format_number import size
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.state import place, run_looks

MOST_HEIGHT: Final = 700
"""In pixels; longer tables scroll."""

TICK: Final = "compared"
"""The column of boxes."""

_NUMBERS: Final = frozenset({"rollouts", "size", "problems", "findings"})
"""Columns of numbers that are written out, because not all are known."""

ABOUT: Final = "“about”: of the parts that were read, until the run is opened"

_HELP: Final = {
    "value": f"its mean at the last step that has it; {ABOUT}",
    "step": f"largest step that was seen; {ABOUT}",
    "rollouts": ABOUT,
    "written": "when a file of the run changed last; one that was seen growing in the last ten minutes is training now",
    "problems": "lines that could not be read and things that are odd, known once all of the run was read",
    "findings": "what went wrong in training, known of runs that were open since the board began",
}


def draw(runs: Sequence[ListedRun], metric: str, root: str, key: str, opens: Callable[[ListedRun], None]) -> None:
    """Draw the runs in their order, with what they are coloured; `opens` is called with a run whose name was clicked.

    The runs that the link compares are ticked.
    """
    frame = run_list.rows(runs, metric, root)
    frame["size"] = [size(one.folder.bytes) if one.folder.shards else "" for one in runs]
    if any(one.note.colour for one in runs):
        frame.insert(0, "colour", [RUN_COLORS.get(one.note.colour, "") for one in runs])
    for name in ("tags", "note"):
        if not frame[name].astype(bool).any():
            frame = frame.drop(columns=name)
    frame.insert(0, TICK, [one.folder.name in place.compared() for one in runs])
    names = [one.folder.name for one in runs]
    table.show(
        frame,
        {name: _column(name, frame[name], metric) for name in frame.columns},
        name="runs",
        key=key,
        on_click=partial(_clicked, key, runs, opens),
        on_tick=partial(_ticked, key, names),
        chosen=names.index(str(place.part("run"))) if place.part("run") in names else None,
        height=MOST_HEIGHT,
    )


def _ticked(key: str, names: Sequence[str]) -> None:
    tick = place.reported(key, "ticked") or {}
    row, on = tick.get("row"), tick.get("on")
    if not isinstance(row, int) or not 0 <= row < len(names):
        return
    run_looks.tick(names[row], on=bool(on))


def _clicked(key: str, runs: Sequence[ListedRun], opens: Callable[[ListedRun], None]) -> None:
    row, column = place.clicked_cell(key) or (len(runs), "")
    if row >= len(runs):
        return
    if column == "run":
        opens(runs[row])
    else:
        place.go(run=runs[row].folder.name)


def _column(name: str, values: "pd.Series[Any]", metric: str) -> TableColumn:
    """How the table shows a column."""
    meaning = _HELP.get(name, "")
    if name == TICK:
        return TableColumn(label="", width=36, drawn="tick", help="Compare it with others")
    if name == "colour":
        return TableColumn(label="", width=34, drawn="colour")
    if name == "run":
        return TableColumn(width=230, opens=True)
    if name == "curve":
        called = "reward by step" if metric == "reward" else "curve by step"
        return TableColumn(called, width=140, drawn="trend", color=COLORS["policy"])
    if name == "value":
        return TableColumn("last", meaning, right=True)
    if name == "step":
        return TableColumn("last step", meaning, format="%d" if pd.api.types.is_numeric_dtype(values) else "", right=True)
    if name == "tags":
        return TableColumn(drawn="tags")
    return TableColumn({"written": "last written"}.get(name, name), meaning, right=name in _NUMBERS)
