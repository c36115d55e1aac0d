"""A table with a row for each run that lies beside others: its colour, its name, and what is told of it. Draws only."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from board.analysis.steps.distribution_shift import Estimate
from board.text.format_number import fmt, signed
from board.ui.components import table
from board.ui.components.table import TableColumn
from board.ui.state.run_looks import RunLook

NAME: Final = "run"
TEXTS: Final = frozenset({"settings from"})
MOST_HEIGHT: Final = 560
"""In pixels: eight runs need less."""


def draw(runs: Sequence[RunLook], told: pd.DataFrame, key: str, helps: Mapping[str, str] | None = None) -> None:
    """The table; `told` has a row for each run in the same order, and `helps` says what some of its columns are. TEXTS stand to the left."""
    looks = {"colour": [one.color for one in runs], NAME: [one.name for one in runs]}
    frame = pd.concat([pd.DataFrame(looks), told.reset_index(drop=True)], axis=1)
    columns = {
        "colour": TableColumn("", width=34, drawn="colour"),
        NAME: TableColumn(width=170),
        **{str(name): TableColumn(help=(helps or {}).get(str(name), ""), right=name not in TEXTS) for name in told.columns},
    }
    table.show(frame, columns, name="runs", key=key, height=MOST_HEIGHT)


def interval(of: Estimate) -> str:
    """A difference with its interval, "+0.12 (0.05 to 0.19)"; empty where it is not known."""
    if of.value != of.value:
        return ""
    low, high = (fmt(end, 3 if abs(end) >= 1 else 2) for end in (of.low, of.high))
    return f"{signed(of.value)} ({low} to {high})" if of.low == of.low else signed(of.value)
