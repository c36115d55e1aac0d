"""A run of any trainer as the board's own rows: JSON lines or Parquet.

What the board derives is left out, as it is computed again from the rest.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.errors import ArgumentRefused
from board.runs import export
from board.runs.cache.parts import COUNTS, PADS, Part
from board.runs.run import Run
from board.schema import DERIVED_NUMBERS, title
from board.sources.shards import bare_name
from board.text.path_names import path_of, shown

Target = Literal["jsonl", "parquet"]

_NOT_WRITTEN: Final = frozenset(
    {"shard", "line", "offset", "nth", "prompt_key", COUNTS, PADS, *(one.name for one in DERIVED_NUMBERS)}
)
_LOGGED: Final = " (logged)"
_ROWS_AT_ONCE: Final = 256


def convert(run: Run, out: Path, target: Target, on_rows: Callable[[int], None] | None = None) -> list[Path]:
    """Write the frame's rollouts of each shard into the folder `out`, under its own name with another ending; the files written.

    `on_rows` receives how many rows have been written so far. Raises ArgumentRefused when `out` holds something already, or lies in the run.
    """
    if out.resolve().is_relative_to(run.location.resolve()):
        raise ArgumentRefused(f"{shown(out)} lies in the run itself, which is never written to: choose another folder.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ArgumentRefused(f"{shown(out)} is there already and is not an empty folder: choose another.")
    written, rows = [], 0
    chosen = [_Chosen(part, rows) for part, _, rows in run.parts_of_rows()]
    names = file_names({one.shard for one in chosen}, target)
    for shard, pieces in groupby(chosen, key=lambda one: one.shard):
        path = out / path_of(names[shard])
        path.parent.mkdir(parents=True, exist_ok=True)
        for count in _written(path, list(pieces), target):
            rows += count
            if on_rows:
                on_rows(rows)
        written.append(path)
    return written


@dataclass(frozen=True)
class _Chosen:
    """The rollouts of a part that are written."""

    part: Part
    rows: NDArray[np.int64]

    @property
    def shard(self) -> str:
        return str(self.part.scalars.column("shard")[0].as_py())

    def table(self) -> pa.Table:
        whole = native_table(self.part)
        return whole if len(self.rows) == len(self.part) else whole.take(pa.array(self.rows))


def file_names(shards: Collection[str], target: Target) -> dict[str, str]:
    """What each shard's file is called: its name with `target` for an ending; where two would fall together, all keep their own before it."""
    bare = {shard: bare_name(shard) for shard in shards}
    distinct = len(set(bare.values())) == len(bare)
    return {shard: f"{bare[shard] if distinct else shard}.{target}" for shard in shards}


def native_table(part: Part) -> pa.Table:
    """A part's rollouts under our names, a row each; null where a row lacks a field."""
    means = {f"{title(name)}{_LOGGED * logged}_mean" for name in part.tokens.column_names for logged in (False, True)}
    columns: dict[str, pa.ChunkedArray] = {}
    for kind, table in (("", part.scalars), (" (text)", part.texts), (" (tokens)", part.tokens)):
        for name in table.column_names:
            if name in _NOT_WRITTEN or name in means:
                continue
            own = name.removesuffix(_LOGGED)
            columns[f"{own}{kind}" if own in columns else own] = _plain(table.column(name))
    return pa.table(columns)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dictionaries as their texts, and NaN, which the board keeps where a number is missing, as null."""
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    if pa.types.is_floating(column.type):
        return pa.chunked_array([pa.array(column.to_numpy(), from_pandas=True)])
    return column


def _written(path: Path, chosen: list[_Chosen], target: Target) -> Iterator[int]:
    """Write a file; how many rows there are with each piece of it."""
    schema = pa.unify_schemas([native_table(one.part).schema for one in chosen], promote_options="permissive")
    tables = (pa.concat_tables([schema.empty_table(), one.table()], promote_options="permissive") for one in chosen)
    whole = (batch for table in tables for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE) if len(batch))
    write = export.parquet if target == "parquet" else export.sparse_lines
    with path.open("wb") as stream:
        for piece in write(schema, (pa.Table.from_batches([batch]) for batch in whole)):
            stream.write(piece.data)
            yield piece.rows
