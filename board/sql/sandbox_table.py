"""The table that a sandboxed query is answered over: what was sent, texts mapped where they lie, and columns only known to be there.

Read by `board.sql.sandbox_worker` before it lets any query in.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

Piece = list[str | int]
"""Of a text column: `[path, column, inode]` where it lies in an Arrow file, `[rows]` where all of them are missing."""

TEXTS: Final = b"texts"
"""Metadata of the table that is sent: JSON, each text column's pieces."""

ABSENT: Final = b"absent"
"""Metadata of the table that is sent: JSON, the kinds of the columns that were left out, by name."""

STORED: Final = b"stored"
"""Metadata of the table that is sent, where it lies in files of Parquet instead: JSON, their `paths`, in SQL what each of the
`columns` is there, and what `where` says of the rows that a query may read."""

WITHIN: Final = "is one of the rollouts queried"
"""The column that says which rows a query may read, where texts brought others along."""

IN_TURN: Final = "rollouts in turn"
"""The rows of `rollouts`, which may be read once: while they are it is known how far a query has come."""


def whole(sent: pa.Table) -> pa.Table:
    """The table with its text columns, and the ones left out as nothing but missing values. Raises OSError where a file is another."""
    metadata: Mapping[bytes, bytes] = sent.schema.metadata
    table = sent
    for name, pieces in json.loads(metadata.get(TEXTS, b"{}")).items():
        table = table.append_column(name, pa.chunked_array([_array(piece) for piece in pieces], pa.large_string()))
    zeros = pa.py_buffer(bytes(8 * (len(sent) + 1)))
    for name, kind in json.loads(metadata.get(ABSENT, b"{}")).items():
        table = table.append_column(name, _missing(kind, len(sent), zeros))
    return table


def _array(piece: Piece) -> pa.Array:
    if len(piece) == 1:
        return pa.nulls(int(piece[0]), pa.large_string())
    path, column, inode = piece
    with Path(str(path)).open("rb") as file:
        if os.fstat(file.fileno()).st_ino != inode:
            raise OSError(f"{Path(str(path)).name} is no longer the file that was read")
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all().column(str(column)).chunk(0)


def _missing(kind: str, rows: int, zeros: pa.Buffer) -> pa.Array:
    """So many missing values, which take no memory of their own: a query that named such a column would have been sent it."""
    buffers: Sequence[pa.Buffer] = [zeros, zeros, pa.py_buffer(b"")] if kind == "text" else [zeros, zeros]
    return pa.Array.from_buffers(pa.large_string() if kind == "text" else pa.float64(), rows, buffers)
