"""Lines or records of a shard → parts, and a report of what was odd: the work that is done once per byte of a run, by whichever process does it.

Knows formats and parts; knows neither where lines come from nor where parts are kept.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from hashlib import blake2b
from typing import Final

import numpy as np
import pyarrow as pa

from board import formats
from board.errors import RowRefused
from board.formats.contract import Format, Place
from board.formats.row import Row
from board.formats.token_names import namer
from board.runs import parts
from board.runs.columns import Overlaid
from board.runs.load_report import LoadReport
from board.runs.parts import Part, Source
from board.runs.read_options import ReadOptions
from board.sources import json_record
from board.sources.files import Parsed
from board.sources.json_record import Record
from board.sources.shards import Line, Problem

ROWS_PER_PART: Final = 16_384
BYTES_PER_PART: Final = 32_000_000
"""A part ends after so many rows, or after so many bytes of lines, so that parsing needs little memory whatever the rows are like."""

_RANK: Final = re.compile(r"rank[_-]?(\d+)")


Item = Line | Parsed | Problem
"""What a shard gives: a line whose record is still to be read, a record, or what is wrong."""


def read_parts(
    items: Iterable[Item], shard: str, kind: Format, reading: ReadOptions, report: LoadReport, keep: Callable[[Part], None]
) -> None:
    """Hand the rollouts of a format to `keep` as parts, in their order; what cannot be read, and what is odd, goes into the report."""
    batch = _Batch(shard, reading.all_pads, report, keep)
    reader, name = json_record.LineParser(kind.ARRAYS), namer(reading.tokenizer)
    with np.errstate(over="ignore", invalid="ignore"):  # a number beyond float32 is infinite, and said to be; ∞ - ∞ is no number
        for item in items:
            if isinstance(item, Problem):
                report.add(item)
            else:
                batch.add(_rows(reader, item, lambda record, place: formats.read(record, kind, place, name), shard, report), item)
        batch.end()


class _Batch:
    """Rows until they make a part."""

    def __init__(self, shard: str, pads: AbstractSet[str], report: LoadReport, keep: Callable[[Part], None]) -> None:
        self._shard, self._pads, self._report, self._keep = shard, pads, report, keep
        self._rank = _RANK.search(shard)
        self._begin()

    def _begin(self) -> None:
        self._rows: list[Row] = []
        self._sources: list[Source] = []
        self._size = 0

    def add(self, rows: Sequence[Row], item: Line | Parsed) -> None:
        """Take in the rows of a record, and hand the part on when it is full."""
        offset, size = (item.offset, len(item.data)) if isinstance(item, Line) else (0, item.size)
        for nth, row in enumerate(rows):
            if self._rank:
                row.ids.setdefault("rank", self._rank[1])
            self._rows.append(row)
            self._sources.append(Source(self._shard, item.number, offset, nth))
        self._size += size
        if len(self._rows) == ROWS_PER_PART or self._size >= BYTES_PER_PART:
            self.end()

    def end(self) -> None:
        """Hand on what there is."""
        if self._rows:
            self._keep(_part(self._rows, self._sources, self._pads, self._report))
            self._begin()


def _rows(
    reader: json_record.LineParser,
    item: Line | Parsed,
    read: Callable[[Record, Place], list[Row]],
    shard: str,
    report: LoadReport,
) -> list[Row]:
    """The rollouts of a record; none, and a word in the report, when it cannot be read. A half-written last line is not a problem."""
    try:
        record = item.record if isinstance(item, Parsed) else reader.parse(item.data)
    except RowRefused as error:
        if isinstance(item, Line) and not item.whole:
            report.unfinished.append(shard)
        else:
            report.add(Problem(shard, item.number, str(error), "refused"))
        return []
    try:
        return read(record, Place(shard, item.number))
    except RowRefused as error:
        report.add(Problem(shard, item.number, str(error), "refused"))
        return []


def _part(rows: list[Row], sources: list[Source], pads: AbstractSet[str], report: LoadReport) -> Part:
    part = parts.build(rows, sources, pads)
    for row, source in zip(rows, sources, strict=True):
        for flag in row.flags:
            report.add(Problem(source.shard, source.line, flag, "flagged"))
    report.rows += len(rows)
    keys = pa.array([prompt_key(row.texts.get("prompt", "")) for row in rows], pa.int64())
    return replace(part, scalars=Overlaid(part.scalars, {"prompt_key": pa.chunked_array([keys])}))


def prompt_key(prompt: str) -> int:
    """Equal for equal prompts, and as good as never for others: 64 bits, signed."""
    return int.from_bytes(blake2b(prompt.encode(), digest_size=8).digest(), "little", signed=True)
