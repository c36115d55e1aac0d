"""Lines of a shard → parts, and a report of what was odd: the work that is done once per byte of a run, by whichever process does it.

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

from board import formats, parts, records
from board.errors import RowRefused
from board.formats import native
from board.formats.contract import Place
from board.formats.row import Row
from board.parts import Part, Source
from board.report import LoadReport
from board.shards import Line, Problem

ROWS_PER_PART: Final = 16_384
BYTES_PER_PART: Final = 32_000_000
"""A part ends after so many rows, or after so many bytes of lines, so that parsing needs little memory whatever the rows are like."""

_RANK: Final = re.compile(r"rank[_-]?(\d+)")


def read_parts(
    lines: Iterable[Line | Problem], shard: str, pads: AbstractSet[str], report: LoadReport, keep: Callable[[Part], None]
) -> None:
    """Hand the rollouts on the lines to `keep` as parts, in their order; what cannot be read, and what is odd, goes into the report."""
    batch = _Batch(shard, pads, report, keep)
    reader = records.Reader(native.ARRAYS)
    with np.errstate(over="ignore"):  # a number beyond float32 is infinite, and said to be
        for line in lines:
            if isinstance(line, Problem):
                report.add(line)
            else:
                batch.add(_read(reader, line, shard, report), line)
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

    def add(self, rows: Sequence[Row], line: Line) -> None:
        """Take in the rows of a line, and hand the part on when it is full."""
        for row in rows:
            if self._rank:
                row.ids.setdefault("rank", self._rank[1])
            self._rows.append(row)
            self._sources.append(Source(self._shard, line.number, line.offset))
        self._size += len(line.data)
        if len(self._rows) == ROWS_PER_PART or self._size >= BYTES_PER_PART:
            self.end()

    def end(self) -> None:
        """Hand on what there is."""
        if self._rows:
            self._keep(_part(self._rows, self._sources, self._pads, self._report))
            self._begin()


def _read(reader: records.Reader, line: Line, shard: str, report: LoadReport) -> list[Row]:
    """The rollouts on a line; none, and a word in the report, when it cannot be read. A half-written last line is not a problem."""
    try:
        record = reader.parse(line.data)
    except RowRefused as error:
        if line.whole:
            report.add(Problem(shard, line.number, str(error), "refused"))
        else:
            report.unfinished.append(shard)
        return []
    try:
        return formats.read(record, native, Place(shard, line.number))
    except RowRefused as error:
        report.add(Problem(shard, line.number, str(error), "refused"))
        return []


def _part(rows: list[Row], sources: list[Source], pads: AbstractSet[str], report: LoadReport) -> Part:
    part = parts.build(rows, sources, pads)
    for row, source in zip(rows, sources, strict=True):
        for flag in row.flags:
            report.add(Problem(source.shard, source.line, flag, "flagged"))
    report.rows += len(rows)
    keys = pa.array([_prompt_key(row.texts.get("prompt", "")) for row in rows], pa.int64())
    return replace(part, scalars=part.scalars.append_column("prompt_key", keys))


def _prompt_key(prompt: str) -> int:
    return int.from_bytes(blake2b(prompt.encode(), digest_size=8).digest(), "little", signed=True)
