"""A table with a row for each compared run: its colour, its name and its numbers."""

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


def draw(runs: Sequence[RunLook], values: pd.DataFrame, key: str, helps: Mapping[str, str] | None = None) -> None:
    """Draw the table; `values` has a row for each run in the same order, `helps` explains some columns. TEXTS are aligned left."""
    looks = {"colour": [run.color for run in runs], NAME: [run.name for run in runs]}
    frame = pd.concat([pd.DataFrame(looks), values.reset_index(drop=True)], axis=1)
    columns = {
        "colour": TableColumn("", width=34, drawn="colour"),
        NAME: TableColumn(width=170),
        **{str(name): TableColumn(help=(helps or {}).get(str(name), ""), right=name not in TEXTS) for name in values.columns},
    }
    table.show(frame, columns, name="runs", key=key, height=MOST_HEIGHT)


def interval(estimate: Estimate) -> str:
    """A difference with its interval, "+0.12 (0.05 to 0.19)"; empty if unknown."""
    if estimate.value != estimate.value:
        return ""
    low, high = (fmt(end, 3 if abs(end) >= 1 else 2) for end in (estimate.low, estimate.high))
    return f"{signed(estimate.value)} ({low} to {high})" if estimate.low == estimate.low else signed(estimate.value)
