"""Which rollouts of a run satisfy a condition in SQL, answered in a process that can touch nothing else."""

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.errors import BoardError
from board.runs.run import Run
from board.sql.chips import one_line
from board.sql.identifiers import exact_names, may_be_named
from board.sql.query import LONGEST_QUERY, TABLE
from board.sql.run_table import KEY, columns, run_table
from board.sql.sandbox_client import Limits, answered
from board.sql.sandbox_table import IN_TURN

LIMITS: Final = Limits(seconds=60, rows=2**62, bytes=2**62)
"""Texts of a large run take longer than numbers; the answer is eight bytes a rollout at most."""


def matching(
    run: Run, condition: str, limits: Limits = LIMITS, show: Callable[[float], None] = lambda share: None
) -> NDArray[np.bool_]:
    """Which rows of the run's frame satisfy the condition, shape (rows,); one that is neither true nor false of a row leaves it out.

    The condition is what stands behind WHERE, over the columns of the frame and the texts; subqueries may ask the table `rollouts`.
    `show` is called with the share of the rows that was looked at, now and then.
    Raises BoardError with DuckDB's own message for one it refuses, and with ours for one that takes longer or needs more than the limits.
    """
    check_condition(condition)
    if run.frame.empty:
        return np.zeros(0, bool)
    known = columns(run)
    condition = exact_names(condition, known)
    table = run_table(run, may_be_named(known, condition))
    query = f'SELECT {KEY} FROM "{IN_TURN}" AS {TABLE} WHERE (\n{condition}\n)'
    said = answered(table.scalars, query, limits, table.texts, table.absent, show)
    if reason := said.schema.metadata.get(b"error"):
        raise BoardError(reason.decode())
    return np.isin(run.frame.index.to_numpy(), _keys(said))


def check_condition(condition: str) -> None:
    """Raises BoardError for a condition that is empty, too long, or holds a character that is no text."""
    if not one_line(condition):  # which raises where brackets would reach beyond the WHERE
        raise BoardError("There is no condition: write one, such as reward > 0.5.")
    if len(condition) > LONGEST_QUERY:
        raise BoardError(f"The condition has {len(condition):,} characters, and {LONGEST_QUERY:,} is the most that is read.")
    if any(0xD800 <= ord(character) < 0xE000 or character == "\0" for character in condition):
        raise BoardError("The condition holds a character that is no text.")


def _keys(said: pa.Table) -> NDArray[np.int64]:
    """The keys of an answer. Raises BoardError where the condition selected something else."""
    if said.column_names != [KEY] or not pa.types.is_int64(said.schema.field(0).type):
        raise BoardError("This is no condition: write what may stand behind WHERE, such as reward > 0.5.")
    keys: NDArray[np.int64] = said.column(0).to_numpy()
    return keys
