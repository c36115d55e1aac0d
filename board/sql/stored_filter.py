"""A filter over a run that is larger than memory: what it leaves is counted in all rollouts, and shown whole where that fits in memory.

Knows runs and SQL.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.runs.run import Run
from board.sql import identifiers
from board.sql.chips import Chip, condition
from board.sql.condition import check_condition
from board.sql.run_table import KEY, columns
from board.sql.stored_table import IS_SAMPLED, LIMITS, answer

MOST_ROLLOUTS: Final = 100_000
"""So many that a filter leaves are shown, all of them; of more the sample's are shown."""


def filtered(run: Run, chips: list[Chip], named: str, show: Callable[[float], None] = lambda share: None) -> Run:
    """The rollouts that the chips leave of all that the run has, whose choice `named` tells from any other.

    Few enough are all in the frame of what is given, which then is a sample of nothing; else its frame has those of the sample. Raises
    BoardError as `board.sql.stored_table.answer` does.
    """
    wanted = condition(chips)
    check_condition(wanted)
    show(0.0)
    count = int(answer(run, f"SELECT count(*) AS found FROM rollouts WHERE (\n{wanted}\n)").column(0)[0].as_py())
    if count <= MOST_ROLLOUTS:
        return run.of_keys(keys_left(run, wanted), named)
    return sampled(run, wanted, count, named)


def sampled(run: Run, wanted: str, count: int, named: str) -> Run:
    """The rollouts of the sample that satisfy a condition, as a sample of the `count` that do."""
    assert run.beyond is not None
    held = keys_left(run, wanted, run.frame.index.to_numpy())
    both = f"({run.beyond.filtered}\n) AND (\n{wanted}\n)" if run.beyond.filtered else wanted
    chosen = run.of_rows(np.isin(run.frame.index.to_numpy(), held), named)
    beyond = replace(
        run.beyond, rollouts=count, filtered=both, left=lambda step: keys_left(run, f"(\n{wanted}\n) AND step = {step}")
    )
    return replace(chosen, beyond=beyond)


def keys_left(run: Run, wanted: str, of: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """The keys of the rollouts that satisfy a condition; of the sample's alone where these are given."""
    inside = f'"{IS_SAMPLED}" AND ' if of is not None else ""
    limits = replace(LIMITS, rows=2**62, bytes=2**62)
    found: NDArray[np.int64] = (
        answer(run, f"SELECT {KEY} FROM rollouts WHERE {inside}(\n{wanted}\n)", limits).column(0).to_numpy()
    )
    return found


def first(run: Run, wanted: str, sort: str, top: int | None, *, descending: bool = False) -> tuple[int, NDArray[np.int64]]:
    """How many rollouts satisfy a condition, all of them where it is empty, and the keys of the first of them, at most MOST_ROLLOUTS.

    `sort` is a column, missing values last; without it, and among equals, they come by step. Raises BoardError as `answer` does.
    """
    if wanted:
        check_condition(wanted)
    where = f"WHERE (\n{wanted}\n)" if wanted else ""
    named = {given: name for name, given in columns(run).items()}
    by = f"{identifiers.column(named[sort])} {'DESC' if descending else 'ASC'} NULLS LAST, " if sort else ""
    most = MOST_ROLLOUTS if top is None else min(top, MOST_ROLLOUTS)
    count = int(answer(run, f"SELECT count(*) AS found FROM rollouts {where}").column(0)[0].as_py())
    limits = replace(LIMITS, bytes=2**62)
    query = f"SELECT {KEY} FROM rollouts {where} ORDER BY {by}step, {KEY} LIMIT {most}"
    keys: NDArray[np.int64] = answer(run, query, limits).column(0).to_numpy()
    return count, keys
