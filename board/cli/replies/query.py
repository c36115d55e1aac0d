"""An SQL query over a run's rollouts, its answer as rows. A run in, a reply out; the sandbox of the pages answers it."""

from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from board.cli.replies.contract import QueryReply
from board.cli.replies.rollouts import scalar
from board.errors import ArgumentRefused, BoardError
from board.runs.run import Run
from board.sql import index_query
from board.sql.identifiers import exact_names, may_be_named
from board.sql.query import LONGEST_QUERY
from board.sql.run_table import columns, run_table
from board.sql.sandbox_client import Limits, answered

MOST_ROWS: Final = 10_000
"""Of an answer, unless fewer are requested."""


def query(run: Run, sql: str, most_rows: int = MOST_ROWS, longest: int | None = None) -> QueryReply:
    """What one SELECT gives over the table `rollouts`: the run's columns and texts, a row a rollout; texts cut after `longest` characters.

    Raises ArgumentRefused with DuckDB's own message for a query it refuses, and with ours for one that takes longer or needs more than allowed.
    """
    if not sql.strip() or len(sql) > LONGEST_QUERY or any(0xD800 <= ord(one) < 0xE000 or one == "\0" for one in sql):
        raise ArgumentRefused(f"The query is no text of 1 to {LONGEST_QUERY:,} characters.")
    if run.frame.empty:
        raise ArgumentRefused("The run has no rollouts to ask.")
    try:
        if run.slice is not None:
            said = index_query.answer(run, sql, replace(index_query.LIMITS, rows=most_rows))
        else:
            sql = exact_names(sql, columns(run))
            table = run_table(run, may_be_named(columns(run), sql))
            said = answered(table.scalars, sql, Limits(rows=most_rows), table.texts, table.absent)
    except BoardError as error:
        raise ArgumentRefused(str(error)) from error
    metadata = said.schema.metadata or {}
    if reason := metadata.get(b"error"):
        raise ArgumentRefused(reason.decode())
    cells = [_cells(column, longest) for column in said.columns]
    return QueryReply(said.column_names, [list(row) for row in zip(*cells, strict=True)], bool(metadata[b"cut"]))


def _cells(column: pa.ChunkedArray, longest: int | None) -> list[Any]:
    cells = map(scalar, column.to_pylist())
    return [one[:longest] if isinstance(one, str) and longest is not None else one for one in cells]
