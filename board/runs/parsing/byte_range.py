"""A byte range of a shard → its parts, and what reading it found."""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from board import formats
from board.runs.cache.part_folder import UNFINISHED, File, Piece
from board.runs.cache.parts import Part
from board.runs.load_report import LoadReport
from board.runs.parsing import part_builder
from board.runs.parsing.joined_records import joined
from board.runs.parsing.part_builder import Item
from board.runs.read_options import ReadOptions
from board.sources import files as containers
from board.sources import shards
from board.sources.lines import MEMBER_LINES
from board.sources.shards import Line, Problem, Shard


@dataclass(frozen=True)
class ByteRange:
    """Bytes of a shard to be parsed, from `start` to before `stop`."""

    shard: Shard
    start: int
    stop: int
    format: str
    """Name of the format it is read with."""


def parse(
    byte_range: ByteRange,
    reading: ReadOptions,
    keep: Callable[[Part], File | None],
    on_bytes: Callable[[int], None] | None = None,
) -> Piece:
    """Parse a byte range, handing its parts to `keep`, which says what file it wrote. Raises OSError from `keep`, RunNotFound.

    `on_bytes` is called now and then with the number of file bytes read of a compressed shard, whose byte range is the whole.
    """
    shard = byte_range.shard
    if shards.is_plain(shard):
        found = shards.RangeLines(shard, byte_range.start, byte_range.stop)
        piece = _parsed(byte_range, reading, keep, found)
        return replace(piece, lines=found.count, seal=found.seal)
    seal = shards.seal(shard, byte_range.start, byte_range.stop)
    records = _of_members(shard) if shard.members else _records(shard, on_bytes)
    return replace(_parsed(byte_range, reading, keep, records), seal=seal)


def _records(shard: Shard, on_bytes: Callable[[int], None] | None) -> Iterable[Item]:
    """What a shard that cannot be cut holds: its lines, of one that has companions the records that they make with theirs."""
    if not shard.of_lines:
        return containers.read(shard)
    found = shards.read_lines(shard, on_bytes)
    return joined(shard, found) if shard.companions else found


def _of_members(shard: Shard) -> Iterator[Item]:
    """What is in the members of a shard one after the other, each under a number that says in which."""
    for member, one in enumerate(shard.members):
        first = member * MEMBER_LINES
        for item in _records(one, None):
            if isinstance(item, Line):
                yield item._replace(number=first + item.number)
            elif isinstance(item, Problem):
                yield replace(item, line=first + (item.line or 0))
            else:
                yield replace(item, number=first + item.number)


def parse_tail(byte_range: ByteRange, reading: ReadOptions, keep: Callable[[Part], File | None]) -> Piece:
    """Parse what stands behind the last line end of a plain shard: a whole row whose line end is still to come, or half of one.

    No line is counted. Raises what `parse` raises.
    """
    shard, start = byte_range.shard, byte_range.start
    found = [*shards.read_tail(shard, start)]
    return replace(_parsed(byte_range, reading, keep, found), seal=shards.seal(shard, start, byte_range.stop))


def _parsed(byte_range: ByteRange, reading: ReadOptions, keep: Callable[[Part], File | None], found: Iterable[Item]) -> Piece:
    """The items of a byte range as a piece; its lines and its seal are for the caller to say."""
    shard, report, files = byte_range.shard, LoadReport(), []

    def store(part: Part) -> None:
        files.append(keep(part))

    with _uncollected():
        part_builder.read_parts(found, shard, formats.by_name(byte_range.format, reading.mapping), reading, report, store)
    return Piece(
        start=byte_range.start,
        stop=byte_range.stop,
        lines=0,
        files=tuple(file for file in files if file),
        rows=report.rows,
        seal="",
        problems=(*((one.line, one.reason, one.severity) for one in report.problems), *_half_written(shard, report)),
        counts=dict(report.counts),
        unfinished=bool(report.unfinished) and not shard.members,
        trains_ends=report.trains_ends,
        doubts_ends=report.doubts_ends and not reading.trains_ends,
    )


def _half_written(shard: Shard, report: LoadReport) -> Iterator[tuple[int, str, str]]:
    """Which of many files that were read together have a last line that is still being written, in the form of a piece's problems."""
    names = {*report.unfinished}
    yield from ((at * MEMBER_LINES, "", UNFINISHED) for at, one in enumerate(shard.members) if one.name in names)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Cycles of objects are looked for later: what is parsed has none, and to look through all that a process holds takes long."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
