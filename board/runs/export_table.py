"""The rollouts of a run's frame as Arrow tables, a bounded batch at a time, in the frame's order: what a file of rollouts is made of.

Knows no format of files and no screen.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.runs.run import Run
from board.schema import ALTERNATIVES

BATCH_ROWS: Final = 1024
BATCH_BYTES: Final = 8_000_000
"""A batch holds no more, but for a single rollout that is larger."""

_PER_NUMBER: Final = 8
_PER_ALTERNATIVES: Final = 200
"""Bytes in memory: of a number, and of what else could have been sampled at a token."""

Kind = Literal["number", "text", "tokens"]


@dataclass(frozen=True)
class ExportColumn:
    """A column of the file."""

    kind: Kind
    """"number" for those of the frame, ids included."""
    field: str
    """Its name in the run."""


def columns(run: Run, arrays: bool) -> dict[str, ExportColumn]:
    """What the file's columns are called → what they are: those of the frame, texts, and token arrays if asked for.

    Where a name is there already, the later has its kind behind it: `score (text)`.
    """
    given = [ExportColumn("number", str(name)) for name in run.frame.columns]
    given += [ExportColumn("text", name) for name in run.text_columns]
    given += [ExportColumn("tokens", name) for name in run.list_columns] if arrays else []
    called: dict[str, ExportColumn] = {}
    for column in given:
        name, number = column.field, 1
        while name in called:
            name = f"{column.field} ({column.kind})" if number == 1 else f"{column.field} ({column.kind} {number})"
            number += 1
        called[name] = column
    return called


class ExportTable:
    """The rollouts of a run's frame with some of its columns."""

    def __init__(self, run: Run, arrays: bool) -> None:
        self._run = run
        self.columns = columns(run, arrays)
        self.keys: NDArray[np.int64] = run.frame.index.to_numpy(np.int64)
        self._scalars = {name: _Scalars(run.frame[one.field]) for name, one in self.columns.items() if one.kind == "number"}
        lists = [one.field for one in self.columns.values() if one.kind == "tokens"]
        self._per_token = _PER_NUMBER * len(lists) + _PER_ALTERNATIVES * (ALTERNATIVES in lists)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.rows(np.zeros(0, np.int64)).schema

    def batches(self) -> Iterator[pa.Table]:
        """All rollouts in the frame's order, a bounded number at a time."""
        for start in range(0, len(self), BATCH_ROWS):
            at = np.arange(start, min(start + BATCH_ROWS, len(self)))
            for some in np.split(at, _cuts(self._bytes(at))):
                yield self.rows(some)

    def rows(self, at: NDArray[np.int64]) -> pa.Table:
        """The rollouts at some places of the frame; null where one lacks a field."""
        keys = self.keys[at]
        taken: dict[str, Any] = {}
        for name, one in self.columns.items():
            if one.kind == "number":
                taken[name] = self._scalars[name].at(at)
            else:
                taken[name] = (self._run.texts if one.kind == "text" else self._run.lists)(one.field, keys)
        return pa.table(taken)

    def thinned(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Every so many of some places of the frame, so that they are about a batch at most."""
        return at[:: 1 + int(self._bytes(at).sum() // BATCH_BYTES)]

    def _bytes(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        of_texts, tokens = self._run.bytes_of(self.keys[at])
        sizes: NDArray[np.int64] = of_texts + tokens * self._per_token + _PER_NUMBER * len(self._scalars)
        return sizes


def _cuts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where to cut rows of these sizes so that no piece is larger than BATCH_BYTES and its last row."""
    begins = (np.cumsum(sizes) - sizes) // BATCH_BYTES
    return np.flatnonzero(np.diff(begins)) + 1


class _Scalars:
    """A column of the frame, without a copy of it."""

    def __init__(self, column: "pd.Series[Any]") -> None:
        self._names: pa.Array | None = None
        if isinstance(column.dtype, pd.CategoricalDtype):
            self._names = pa.array(column.cat.categories.astype(object), pa.large_string())
            self._values = column.array.codes
        else:
            self._values = column.to_numpy()

    def at(self, rows: NDArray[np.int64]) -> pa.Array:
        """The column at some rows, null where the number is missing."""
        values = self._values[rows]
        if self._names is None:
            return pa.array(values, from_pandas=True)
        return self._names.take(pa.array(values, pa.int64(), mask=values < 0))
