"""Which rollouts of a run the chips of a filter leave: numbers are compared here, and all else DuckDB is asked. Knows no screen."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.runs.run import Run
from board.sql.chips import Chip, condition
from board.sql.condition import matching
from board.sql.identifiers import told_apart
from board.sql.number_conditions import Numbers, truth
from board.sql.run_table import KEY, PROMPT_KEY, columns


def left_by(run: Run, chips: Sequence[Chip], show: Callable[[float], None] = lambda share: None) -> NDArray[np.bool_]:
    """Which rows of the run's frame satisfy all chips that are on, shape (rows,). Raises BoardError as `matching` does.

    `show` is told the share that is done where DuckDB is asked, 0 at first. A subquery sees the whole table
    `rollouts`, whatever other chips leave.
    """
    kept, others = np.ones(len(run.frame), bool), list[Chip]()
    known = columns(run)
    for chip in (replace(one, condition=told_apart(one.condition, known)) for one in chips):
        found = truth(chip.condition, lambda name: _numbers(run, name)) if chip.on else None
        if found is not None:
            kept &= found.false if chip.negated else found.true
        elif chip.on:
            others.append(chip)
    if not others:
        return kept
    show(0.0)
    return kept & matching(run, condition(others), show=show)


def _numbers(run: Run, name: str) -> Numbers | None:
    given = {sql.lower(): column for sql, column in columns(run).items()}.get(name)
    if given == KEY and name == KEY:
        return run.frame.index.to_numpy(np.int64)
    if given == PROMPT_KEY and given not in run.frame.columns:
        return run.prompt_keys
    found = run.frame[given] if given in run.frame.columns else None
    if not isinstance(found, pd.Series) or found.dtype not in (np.dtype(np.int64), np.dtype(np.float64)):
        return None
    return found.to_numpy()
