"""Export the rollouts of a run's frame to one file: CSV, JSON lines or Parquet.

It is written piece by piece: all columns, all texts, on request all arrays. Missing is null, or an empty cell, never 0. Numbers read back as
they are, but for infinities in JSON, which has none: they are null there. Texts are written letter for letter: a spreadsheet may take one
that begins with = for a formula.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from board import atomic_write
from board.errors import ArgumentRefused
from board.runs.loading.sampling import evenly
from board.runs.run import Run
from board.schema import ALTERNATIVES
from board.text.path_names import shown

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
    """What the file's columns are called → what they are: those of the frame, texts, and token arrays if `arrays`.

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


Format = Literal["csv", "jsonl", "parquet"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)

MEDIA: Final[dict[Format, str]] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
"""What HTTP calls each."""

_SAMPLED_PARTS: Final = 3
_SAMPLED_ROWS: Final = 100
"""Of each sampled part, and fewer where they are large: what a file's columns take besides rows must not count for much."""


@dataclass(frozen=True)
class ExportPiece:
    """The next bytes of a file."""

    rows: int
    """How many rollouts are complete with it, in addition to those before."""
    data: bytes


def pieces(run: Run, form: Format, arrays: bool = False) -> Iterator[ExportPiece]:
    """The file, piece by piece, each made when the caller takes it; what is in memory is bounded by a batch of rollouts."""
    table = ExportTable(run, arrays)
    yield from _WRITERS[form](table.schema, table.batches())


def write(run: Run, out: Path, form: Format, arrays: bool = False, on_rows: Callable[[int], None] | None = None) -> int:
    """Write the file to `out`, whole or not at all; its bytes. `on_rows` receives how many rollouts are written so far.

    Raises ArgumentRefused where there is something already or `out` lies in the run, and OSError.
    """
    if out.resolve().is_relative_to(run.location.resolve()):
        raise ArgumentRefused(f"{shown(out)} lies in the run itself, which is never written to: choose another place.")
    if out.exists():
        raise ArgumentRefused(f"{shown(out)} is there already: choose another name.")
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = size = 0
    with atomic_write.replacing(out) as stream:
        for piece in pieces(run, form, arrays):
            stream.write(piece.data)
            rows, size = rows + piece.rows, size + len(piece.data)
            if on_rows:
                on_rows(rows)
    return size


def about_bytes(run: Run, form: Format, arrays: bool) -> float:
    """About how many bytes the file has: as many a rollout as a few of the run's beginning, middle and end take. 0 without rollouts."""
    table = ExportTable(run, arrays)
    sample = table.thinned(_sampled(run, table.keys))
    if not len(sample):
        return 0.0
    sizes = [
        sum(len(piece.data) for piece in _WRITERS[form](table.schema, iter(batches))) for batches in ([], [table.rows(sample)])
    ]
    return sizes[0] + (sizes[1] - sizes[0]) / len(sample) * len(table)


def _sampled(run: Run, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places in the frame of a few rollouts, out of few parts: what is not looked at stays on the disk."""
    held = [start + rows for _, start, rows in run.parts_of_rows()]
    chosen = [held[at] for at in evenly(len(held), _SAMPLED_PARTS)]
    sampled = np.concatenate([np.zeros(0, np.int64), *(keys[evenly(len(keys), _SAMPLED_ROWS)] for keys in chosen)])
    return np.flatnonzero(np.isin(keys, sampled))


def _csv(schema: pa.Schema, batches: Iterator[pa.Table]) -> Iterator[ExportPiece]:
    """RFC 4180 in UTF-8: texts in quotes, numbers without; lists as JSON; a missing value is empty without quotes, an empty text `""`."""
    options = pa_csv.WriteOptions(include_header=False, quoting_style="needed")
    yield ExportPiece(0, _written(schema.empty_table(), pa_csv.WriteOptions(quoting_style="needed")))
    for table in batches:
        yield ExportPiece(len(table), _written(table, options))


def _written(table: pa.Table, options: pa_csv.WriteOptions) -> bytes:
    nested = {name for name, kind in zip(table.column_names, table.schema.types, strict=True) if pa.types.is_nested(kind)}
    texts = {
        name: pa.array([None if one is None else _json(one).decode() for one in _values(table.column(name))], pa.large_string())
        if name in nested
        else table.column(name)
        for name in table.column_names
    }
    sink = io.BytesIO()
    pa_csv.write_csv(pa.table(texts), sink, options)
    return sink.getvalue()


def _lines(schema: pa.Schema, batches: Iterator[pa.Table]) -> Iterator[ExportPiece]:
    """An object a line, with every column in each."""
    for table in batches:
        yield ExportPiece(len(table), b"".join(_json(row) + b"\n" for row in _rows(schema, table)))


def sparse_lines(schema: pa.Schema, batches: Iterator[pa.Table]) -> Iterator[ExportPiece]:
    """An object a line, with the columns alone that it has a value of."""
    for table in batches:
        rows = ({name: value for name, value in row.items() if value is not None} for row in _rows(schema, table))
        yield ExportPiece(len(table), b"".join(_json(row) + b"\n" for row in rows))


def _rows(schema: pa.Schema, table: pa.Table) -> Iterator[dict[str, Any]]:
    columns = [_values(table.column(name)) for name in schema.names]
    return (dict(zip(schema.names, row, strict=True)) for row in zip(*columns, strict=True))


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


def _values(column: pa.ChunkedArray) -> list[Any]:
    """A column as Python objects; a list of numbers as a numpy array, which is written as short as its four bytes need."""
    if not (pa.types.is_large_list(column.type) and pa.types.is_floating(column.type.value_type)):
        plain: list[Any] = column.to_pylist()
        return plain
    values: list[Any] = []
    for chunk in column.chunks:
        flat, bounds = chunk.values.to_numpy(zero_copy_only=False), chunk.offsets.to_numpy().tolist()
        there = chunk.is_valid().to_pylist()
        values += [flat[bounds[at] : bounds[at + 1]] if there[at] else None for at in range(len(chunk))]
    return values


def parquet(schema: pa.Schema, batches: Iterator[pa.Table]) -> Iterator[ExportPiece]:
    """A row group a batch, compressed with zstd; types are the frame's, token arrays lists of float32."""
    outlet = _Outlet()
    with pq.ParquetWriter(outlet, schema, compression="zstd") as writer:
        for table in batches:
            writer.write_table(table, row_group_size=len(table))
            yield ExportPiece(len(table), outlet.taken())
    yield ExportPiece(0, outlet.taken())


class _Outlet(io.RawIOBase):
    """A file that gives away what was written, and goes on counting."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Keep a copy until it is taken."""
        self._held.append(bytes(data))
        self._at += len(self._held[-1])
        return len(self._held[-1])

    def tell(self) -> int:
        """How many bytes were written in all."""
        return self._at

    def taken(self) -> bytes:
        """What was written since the last time."""
        data, self._held = b"".join(self._held), []
        return data


_WRITERS: Final[dict[Format, Callable[[pa.Schema, Iterator[pa.Table]], Iterator[ExportPiece]]]] = {
    "csv": _csv,
    "jsonl": _lines,
    "parquet": parquet,
}
