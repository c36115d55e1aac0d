"""A run as the table that a query reads: its scalars, and its texts as they are on disk.

Rows stand in the order of keys, as the parts do, so that a text column is its pieces end to end and is not copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.runs.cache.columns import ColumnInFile
from board.runs.run import Run
from board.sql.query import as_table, unlike
from board.sql.sandbox_table import WITHIN

KEY: Final = "rollout"
"""The column of a row's key."""

PROMPT_KEY: Final = "prompt_key"
"""The column that is equal for rollouts of the same prompt, at whatever step."""


@dataclass(frozen=True)
class RunTable:
    """Columns for a query, aligned row for row."""

    scalars: pa.Table
    texts: dict[str, list[ColumnInFile | pa.Array]]
    """Each column's pieces."""
    absent: dict[str, str]
    """The run's other columns, "number" or "text" each: DuckDB names them where a query misspells one."""


def columns(run: Run) -> dict[str, str]:
    """What a query may name → what that is in the run: the frame's columns, then PROMPT_KEY and texts.

    Names of a run that differ in case alone, or not at all, get a number.
    """
    given = [KEY, *map(str, run.frame.columns), PROMPT_KEY, *run.text_columns]
    return dict(zip(unlike(given), given, strict=True))


def run_table(run: Run, named: Sequence[str]) -> RunTable:
    """The columns of a run that are `named`, some of `columns(run)`, and KEY; with WITHIN where texts bring other rows along.

    The run's frame is not empty.
    """
    known = columns(run)
    needed = [one for one in named if one != KEY]
    numbers = [one for one in needed if known[one] == PROMPT_KEY or known[one] in run.frame.columns]
    texts = {one: list(run.text_pieces(known[one])) for one in needed if one not in numbers}
    plain = pd.DataFrame({one: _column(run, known[one]) for one in numbers}, index=run.frame.index, copy=False)
    scalars = as_table(plain.assign(**{KEY: run.frame.index.to_numpy(np.int64)}))
    if texts:
        scalars = _by_key(scalars, run)
    return RunTable(scalars, texts, _others(run, known, needed))


def _column(run: Run, name: str) -> "pd.Series[Any] | NDArray[np.int64]":
    return run.frame[name] if name in run.frame.columns else run.prompt_keys


def _by_key(scalars: pa.Table, run: Run) -> pa.Table:
    """The rows in the order of keys, with one for each rollout that was read; WITHIN says which are the frame's."""
    keys = scalars.column(KEY).to_numpy()
    if len(keys) == run.rows_read and (np.diff(keys) == 1).all():
        return scalars
    places = np.full(run.rows_read, -1)
    places[keys] = np.arange(len(keys))
    within = places >= 0
    ordered = scalars.take(pa.array(np.maximum(places, 0)))
    return ordered if within.all() else ordered.append_column(WITHIN, pa.array(within))


def _others(run: Run, known: dict[str, str], needed: Sequence[str]) -> dict[str, str]:
    numbers = {PROMPT_KEY, *run.frame.select_dtypes("number").columns}
    others = [name for name in known if name != KEY and name not in needed]
    return {name: "number" if known[name] in numbers else "text" for name in others}
