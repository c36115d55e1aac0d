"""An index whose frame is written out, as what a run is made of: its rows by step or by key, its parts opened on demand, and who is where.

Knows the frame's files and the index's manifests; knows neither what a page shows nor how much of a frame is too much.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.errors import RunNotFound
from board.runs import column_room
from board.runs.frame_files import KEY, FrameFiles, numbers
from board.runs.indexed_run import IndexedRun
from board.runs.kept_rows import KeptRows
from board.runs.load_report import LoadReport
from board.runs.merging import natural_order
from board.runs.part_reader import PartReader
from board.runs.parts import Part, with_lines_after
from board.runs.parts_by_key import PartsAccount, PartsByKey
from board.runs.parts_on_demand import LazyParts
from board.runs.rollout import ParsedSource
from board.schema import OTHER_FIELDS
from board.sources import presence


class FramedIndex:
    """What is read of one index. Shared by all runs that are made of it."""

    def __init__(self, indexed: IndexedRun, files: FrameFiles, report: LoadReport, *, is_sample: bool) -> None:
        """What reading a part finds damaged goes into the report; `is_sample` says that no run is made of all rows."""
        self.files, self._indexed = files, indexed
        self.has_measures = is_sample
        """Whether frames show what was measured of texts, as a sample does: of a run in memory it is shown once somebody asks."""
        self._reader = PartReader(indexed.store, indexed.reading, report)
        self._opening = threading.Lock()
        account, parts = files.account, files.parts
        told = PartsAccount(
            np.append(parts.column("start").to_numpy(), np.int64(account.rows)),
            account.token_metrics,
            account.text_columns,
            account.has_tokens,
            account.has_alternatives,
            frozenset(account.moments),
            all_at_hand=not is_sample,
        )
        self.by_key = PartsByKey(LazyParts(len(parts), self._part), told)

    def _part(self, number: int) -> Part:
        """A part, opened. Raises RunNotFound where it is damaged and its shard does not have it any more, or the index is another by now."""
        at = {name: self.files.parts.column(name)[number].as_py() for name in ("shard", "piece", "nth", "first_line", "rows")}
        name = self.files.account.shards[at["shard"]]
        with self._opening:
            kept = self._indexed.with_pieces(name)
        piece = next((one for one in kept.pieces if one.start == at["piece"]), None)
        if piece is None and kept.broken:  # its manifest is damaged
            raise RunNotFound(f"{name}: {kept.broken[0].reason}.")
        if piece is None or len(piece.files) <= at["nth"]:
            raise RunNotFound(f"The index has changed since it was opened: what it held of {name} is elsewhere. Open it again.")
        self._indexed.store.look_into([piece], whole=presence.REQUEST)
        part: Part = self._reader.opened(kept, piece)[at["nth"]]
        if len(part) != at["rows"]:
            raise RunNotFound(f"The index has changed since it was opened: {name} has other rows. Open it again.")
        part = replace(part, scalars=with_lines_after(part.scalars, at["first_line"]))
        account = self.files.account
        if OTHER_FIELDS not in account.text_columns:
            return part
        return column_room.refitted(part, column_room.own_fields(account.columns, account.text_columns, account.token_metrics))

    def columns(self) -> list[str]:
        """All columns of rows."""
        found: list[str] = self.files.sample.column_names
        return found

    def sample(self) -> tuple[pd.DataFrame, KeptRows]:
        """The rows of the sample as a frame, and what lies beside them."""
        return self._framed(self.files.sample)

    def whole(self) -> tuple[pd.DataFrame, KeptRows]:
        """All rows as a frame; what lies beside them is read, a column at a time, when it is asked for."""
        named = [KEY, *(f"frame/{name}" for name in self.files.account.columns)]
        table = self.files.rows(named)
        keys = table.column(KEY).to_numpy()
        return self.frame(table), KeptRows(keys, lambda name: numbers(self.files.rows([name]).column(name)))

    def of_step(self, step: int) -> tuple[pd.DataFrame, KeptRows]:
        """All rows of a step."""
        return self._framed(self.files.rows(self.columns(), step, step))

    def at(self, keys: NDArray[np.int64]) -> tuple[pd.DataFrame, KeptRows]:
        """The rows of some rollouts, in the frame's order."""
        return self._framed(self.files.rows_at(keys, self.columns()))

    def _framed(self, table: pa.Table) -> tuple[pd.DataFrame, KeptRows]:
        return self.frame(table), KeptRows(table.column(KEY).to_numpy(), lambda name: numbers(table.column(name)))

    def frame(self, table: pa.Table) -> pd.DataFrame:
        """Rows as a run's frame has them."""
        account = self.files.account
        columns: dict[str, Any] = {}
        measured = [f"measured/{name}" for name in account.measured] if self.has_measures else []
        for place in [*(f"frame/{name}" for name in account.columns), *measured]:
            name, column = place.partition("/")[2], table.column(place)
            if pa.types.is_dictionary(column.type):
                columns[name] = _categories(column, account.shards if name == "shard" else account.ids.get(name))
            else:
                columns[name] = numbers(column).astype(np.float32) if place in measured else numbers(column)
        return pd.DataFrame(columns, index=pd.Index(table.column(KEY).to_numpy(), name=KEY), copy=False)

    def rows_in_step(self, step: int) -> int:
        """How many rollouts a step has, of all splits."""
        return sum(self.rows_of_split(split).get(step, 0) for split in self.files.account.splits)

    def rows_of_split(self, split: str) -> dict[int, int]:
        """How many rollouts of a split each step has."""
        table = self.files.steps(split)
        return dict(zip(table.column("step").to_pylist(), table.column("rows").to_pylist(), strict=True))

    def find(self, named: ParsedSource) -> tuple[int, int] | None:
        """The key and the step of the rollout that a link names; None where there is none."""
        account, parts = self.files.account, self.files.parts
        if named.shard not in account.shards:
            return None
        place, wanted = ("offset", named.offset) if named.line is None else ("line", named.line)
        shard = account.shards.index(named.shard)
        inside = pc.and_(
            pc.less_equal(parts.column(f"{place}_first"), wanted), pc.greater_equal(parts.column(f"{place}_last"), wanted)
        )
        holding = pc.and_(inside, pc.equal(parts.column("shard"), shard))
        for number in np.flatnonzero(holding.to_numpy()).tolist():
            found = _row(self.by_key.parts[number], place, wanted, named.nth)
            if found is not None:
                return int(self.by_key.account.starts[number]) + found[0], found[1]
        return None


def _row(part: Part, place: str, wanted: int | None, nth: int) -> tuple[int, int] | None:
    """The row of a part whose line or offset is that, and its step."""
    there = part.scalars.column(place).to_numpy() == wanted
    rows = np.flatnonzero(there & (part.scalars.column("nth").to_numpy() == nth))
    return (int(rows[0]), int(part.scalars.column("step")[int(rows[0])].as_py())) if len(rows) else None


def _categories(column: pa.ChunkedArray, known: Sequence[str] | None) -> Any:
    """A column of ids with the categories of the whole run, or, of too many to be put in order, those that are there."""
    joined = column.unify_dictionaries().combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        joined = pa.concat_arrays(joined.chunks) if joined.num_chunks else pa.array([], column.type)
    codes = pc.fill_null(joined.indices, -1).to_numpy(zero_copy_only=False)
    values = joined.dictionary.to_pylist()
    if known is None:
        there = pd.unique(codes[codes >= 0])
        known = natural_order([values[at] for at in there.tolist()])
    places = pd.Index(list(known)).get_indexer(pd.Index(values)) if values else np.zeros(0, np.int64)
    found: NDArray[np.int64] = np.append(places, -1)[codes]
    return pd.Categorical.from_codes(found, categories=pd.Index(list(known)))
