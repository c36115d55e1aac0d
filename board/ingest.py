"""Lines of a shard → parts, and a report of what was odd: the work that is done once per byte of a run, by whichever process does it.

Knows formats and parts; knows neither where lines come from nor where parts are kept.
"""

import re
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from typing import Final

from board import formats, parts, records
from board.errors import RowRefused
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
    rows: list[Row] = []
    sources: list[Source] = []
    size = 0
    rank = _RANK.search(shard)
    for line in lines:
        row = _read(line, shard, report)
        if row is None or isinstance(line, Problem):
            continue
        if rank:
            row.ids.setdefault("rank", rank[1])
        rows.append(row)
        sources.append(Source(shard, line.number, line.offset))
        size += len(line.data)
        if len(rows) == ROWS_PER_PART or size >= BYTES_PER_PART:
            keep(_part(rows, sources, pads, report))
            rows, sources, size = [], [], 0
    if rows:
        keep(_part(rows, sources, pads, report))


def _read(line: Line | Problem, shard: str, report: LoadReport) -> Row | None:
    """The rollout on a line; None, and a word in the report, when there is none. A half-written last line is not a problem."""
    if isinstance(line, Problem):
        report.add(line)
        return None
    try:
        record = records.parse(line.data)
    except RowRefused as error:
        if line.whole:
            report.add(Problem(shard, line.number, str(error), "refused"))
        else:
            report.unfinished.append(shard)
        return None
    try:
        return formats.read(record)
    except RowRefused as error:
        report.add(Problem(shard, line.number, str(error), "refused"))
        return None


def _part(rows: list[Row], sources: list[Source], pads: AbstractSet[str], report: LoadReport) -> Part:
    part = parts.build(rows, sources, pads)
    for row, source in zip(rows, sources, strict=True):
        for flag in row.flags:
            report.add(Problem(source.shard, source.line, flag, "flagged"))
    part.scalars["prompt_key"] = [_prompt_key(row.texts.get("prompt", "")) for row in rows]
    report.rows += len(rows)
    return part


def _prompt_key(prompt: str) -> int:
    return int.from_bytes(blake2b(prompt.encode(), digest_size=8).digest(), "little", signed=True)
