"""Lines or records of a shard → parts, and a report of what was odd."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from board import formats
from board.errors import RowRefused
from board.formats.contract import Format, Place
from board.formats.filename_hints import split_named
from board.formats.row import Row
from board.formats.token_names import namer
from board.runs.cache import parts
from board.runs.cache.parts import Part
from board.runs.cache.rollout_block import Block, joined
from board.runs.load_report import LoadReport
from board.runs.parsing.column_room import ColumnRoom
from board.runs.parsing.row_block import RowPlace, block_of_rows
from board.runs.parsing.unnamed_pads import note_ends, unnamed
from board.runs.read_options import ReadOptions
from board.sources import json_record
from board.sources.files import Parsed
from board.sources.shards import Line, Problem, Shard

ROWS_PER_PART: Final = 16_384
BYTES_PER_PART: Final = 32_000_000
"""A part ends after so many rows, or after so many bytes of lines, so that parsing needs little memory whatever the rows are like."""

ROWS_AT_ONCE: Final = 512
BYTES_AT_ONCE: Final = 2_000_000
"""So many lines, or lines of so many bytes, are read before they become a block: few enough to stay in the processor's cache."""

_RANK: Final = re.compile(r"rank[_-]?(\d+)")


Item = Line | Parsed | Problem
"""What a shard gives: a line whose record is still to be read, a record, or what is wrong."""


def rank_of(shard: str) -> str | None:
    """The rank that the name of a file says."""
    found = _RANK.search(shard)
    return found[1] if found else None


def read_parts(
    items: Iterable[Item], shard: Shard, kind: Format, reading: ReadOptions, report: LoadReport, keep: Callable[[Part], None]
) -> None:
    """Hand the rollouts of a format to `keep` as parts, in their order; what cannot be read, and what is odd, goes into the report."""
    batch = _Batch(shard.name, reading.all_pads, report, keep)
    rows = _RowReader(shard, kind, reading, report)
    with np.errstate(over="ignore", invalid="ignore"):  # a number beyond float32 is infinite, and said to be; ∞ - ∞ is no number
        for stretch, size in _stretches(items, batch):
            batch.add(rows.read(stretch, batch.room), size)
        batch.end()


def _stretches(items: Iterable[Item], batch: "_Batch") -> Iterator[tuple[list[Item], int]]:
    """The items a stretch at a time, with its bytes: what is read at once, and fits what is left of the part."""
    stretch: list[Item] = []
    size, rows, most = 0, *_room(batch)
    for item in items:
        stretch.append(item)
        size += _size(item)
        if len(stretch) >= rows or size >= most:
            yield stretch, size
            stretch, size, rows, most = [], 0, *_room(batch)
    if stretch:
        yield stretch, size


def _room(batch: "_Batch") -> tuple[int, int]:
    """How many items, and of how many bytes, the next stretch may have."""
    return min(ROWS_AT_ONCE, batch.rows_left), min(BYTES_AT_ONCE, batch.bytes_left)


def _size(item: Item) -> int:
    """Bytes that an item brings to a part."""
    if isinstance(item, Problem):
        return 0
    return len(item.data) if isinstance(item, Line) else item.size


class _Batch:
    """Blocks until they make a part."""

    def __init__(self, shard: str, pads: frozenset[str], report: LoadReport, keep: Callable[[Part], None]) -> None:
        self._shard, self._pads, self._report, self._keep = shard, pads, report, keep
        self._rank = rank_of(shard)
        self._begin()

    def _begin(self) -> None:
        self._blocks: list[Block] = []
        self.room = ColumnRoom()
        self.rows_left, self.bytes_left = ROWS_PER_PART, BYTES_PER_PART

    def add(self, block: Block | None, size: int) -> None:
        """Take in what so many bytes of lines gave, and hand the part on when it is full."""
        if block is not None:
            self._blocks.append(block)
            self.rows_left -= len(block)
        self.bytes_left -= size
        if self.rows_left <= 0 or self.bytes_left <= 0:
            self.end()

    def end(self) -> None:
        """Hand on what there is."""
        if self._blocks:
            block = _with_our_splits(joined(self._blocks))
            self._begin()  # what was joined is let go of: its memory is used again for what is derived
            self._keep(parts.build(block if self._rank is None else _ranked(block, self._rank), self._shard, self._pads))
            note_ends(block, self._report)
            for at, flag in (*block.flags, *unnamed(block)):
                self._report.add(Problem(self._shard, int(block.sources["line"][at]), flag, "flagged"))
            self._report.rows += len(block)


def _with_our_splits(block: Block) -> Block:
    """The block, `evaluation` in the place of whatever other word for it the rollouts have: `val`, `test`, `eval_gsm8k`."""
    if "split" not in block.ids:
        return block
    said = block.ids["split"].dictionary_encode()
    words = pa.array([word and split_named(word) for word in said.dictionary.to_pylist()], pa.string())
    return replace(block, ids={**block.ids, "split": words.take(said.indices)})


def _ranked(block: Block, rank: str) -> Block:
    """The block, the rank that its shard's name says in the rollouts that do not say theirs."""
    given = block.ids.get("rank", pa.nulls(len(block), pa.string()))
    return replace(block, ids={**block.ids, "rank": given.fill_null(rank)})


class _RowReader:
    """Reads lines and records a row at a time: all of them, whatever they hold."""

    def __init__(self, shard: Shard, kind: Format, reading: ReadOptions, report: LoadReport) -> None:
        self._shard, self._kind, self._reading, self._report = shard, kind, reading, report
        self._name = namer(reading.tokenizer)

    def read(self, items: Sequence[Item], room: ColumnRoom) -> Block | None:
        """The rollouts of these items, None when there are none; what cannot be read goes into the report."""
        rows: list[Row] = []
        sources: list[RowPlace] = []
        for item in items:
            if isinstance(item, Problem):
                self._report.add(item)
                continue
            found = self._rows(item)
            rows += found
            offset = item.offset if isinstance(item, Line) else 0
            sources += [RowPlace(item.number, offset, nth) for nth in range(len(found))]
        for row in rows:
            room.fit(row)
        return block_of_rows(rows, sources) if rows else None

    def _rows(self, item: Line | Parsed) -> list[Row]:
        """The rollouts of a record; none, and a word in the report, when it cannot be read. A half-written last line is not a problem."""
        try:
            record = item.record if isinstance(item, Parsed) else json_record.parse(item.data)
        except RowRefused as error:
            if isinstance(item, Line) and not item.whole:
                self._report.unfinished.append(self._shard.place(item.number)[0])
            else:
                self._report.add(Problem(self._shard.name, item.number, str(error), "refused"))
            return []

        def refuse(reason: str) -> None:
            self._report.add(Problem(self._shard.name, item.number, reason, "refused"))

        try:
            name, number = self._shard.place(item.number)
            place, how = Place(name, number or 0), self._reading
            return formats.read(record, self._kind, place, self._name, how.all_pads, refuse, trains_ends=how.trains_ends)
        except RowRefused as error:
            refuse(str(error))
            return []
