"""Snippets of lines, spread over a run to be parsed, so that curves show early."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board import formats
from board.errors import RunNotFound
from board.runs.cache.parts import Part, part_of_rows
from board.runs.load_report import LoadReport
from board.runs.parsing import part_builder
from board.runs.parsing.byte_range import ByteRange
from board.runs.read_options import ReadOptions
from board.sources import lines, presence, shards
from board.sources.shards import Line, Problem, Shard

SNIPPET_BYTES: Final = 65_536
"""Bytes of a snippet, and more where a line is longer."""

SAMPLE_BYTES: Final = (2_000_000, 12_000_000)
"""So much of a run is sampled at first and then, each time of the whole of it: what takes a moment to parse, and what takes a second."""

SHARD_BYTES: Final = 200_000
"""What each shard of a sample costs in addition to its snippets, as bytes that could be parsed in that time."""

MOST_EACH: Final = 16
"""So many snippets of a range at most."""

LONG_BYTES: Final = 4_000_000
"""A snippet is no longer, whatever its line."""


@dataclass(frozen=True)
class Snippet:
    """Whole lines of a byte range, to be parsed before it."""

    within: ByteRange
    start: int
    stop: int
    first_line: int | None = None
    """How many lines of the shard stand before it; None where they were not counted, as is true of most."""


@dataclass(frozen=True)
class Sample:
    """Snippets of one shard, parsed. The line of a row is 0 where it is not known."""

    snippets: tuple[Snippet, ...]
    parts: tuple[Part, ...]
    problems: tuple[Problem, ...]
    """Those whose line is known."""

    @property
    def shard(self) -> Shard:
        """Whose they are."""
        return self.snippets[0].within.shard

    @property
    def size(self) -> int:
        """Bytes that were parsed."""
        return sum(snippet.stop - snippet.start for snippet in self.snippets)

    @property
    def rows(self) -> int:
        """Rollouts in them."""
        return sum(map(len, self.parts))

    def without(self, snippet: Snippet) -> "Sample":
        """Without the rows in a snippet whose line is known, and the problems from that line on: they come with its own sample or range."""
        if self.shard != snippet.within.shard or snippet.first_line is None:
            return self
        parts = []
        for part in self.parts:
            offsets = part.scalars.column("offset").to_numpy()
            rows = np.flatnonzero((offsets < snippet.start) | (offsets >= snippet.stop))
            if len(rows):
                parts.append(part if len(rows) == len(part) else part_of_rows(part, rows))
        problems = tuple(problem for problem in self.problems if (problem.line or 0) <= snippet.first_line)
        return replace(self, parts=tuple(parts), problems=problems)


def spread(count: int) -> list[int]:
    """The numbers below `count`, ordered so that any first few of them are evenly spread: the last first, then 0."""
    bits = max(1, (count - 1).bit_length())
    order = sorted(range(count), key=lambda number: int(f"{number:0{bits}b}"[::-1], 2))
    return [*order[-1:], *order[:-1]] if count < 2 else [count - 1, *(number for number in order if number != count - 1)]


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """Up to `most` of the numbers below `count`, rising, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def snippets(ranges: Sequence[ByteRange], size: int) -> list[Snippet]:
    """Snippets of so many bytes in all, in the order of shards and bytes: some of each range where there are few, and the ends of shards.

    Of what cannot be cut into ranges there are none, nor of what cannot be read.
    """
    plain = [one for one in ranges if shards.is_plain(one.shard)]
    each = min(MOST_EACH, max(1, size // SNIPPET_BYTES // max(1, len(plain))))
    places = _places(plain, each, {one.shard.name: one for one in plain}.values())
    return _taken(places, len(places), size, SHARD_BYTES)


def _places(plain: Sequence[ByteRange], each: int, ends: Iterable[ByteRange]) -> list[tuple[ByteRange, int]]:
    """Where snippets may begin, in the order of shards and bytes: so many in each byte range, and near the end of some."""
    places = [(one, one.start + (one.stop - one.start) * at // each) for one in plain for at in range(each)]
    places += [(one, max(one.start, one.stop - SNIPPET_BYTES)) for one in ends]
    order = {name: at for at, name in enumerate(dict.fromkeys(one.shard.name for one in plain))}
    return sorted(places, key=lambda place: (order[place[0].shard.name], place[1]))


def _taken(places: Sequence[tuple[ByteRange, int]], most: int, size: int, each_shard: int) -> list[Snippet]:
    """At most `most` snippets of about `size` bytes, spread over the places, which are in order; a shard costs so many bytes, too."""
    found: dict[int, Snippet] = {}
    numbers, left, seen = spread(len(places))[:most], size, set[str]()
    presence.look_ahead(_around(places[number]) for number in numbers[: max(1, size // SNIPPET_BYTES)])
    for number in numbers:
        if left <= 0:
            break
        within, place = places[number]
        if snippet := snippet_at(within, place):
            found[number] = snippet
            left -= snippet.stop - snippet.start + (0 if within.shard.name in seen else each_shard)
            seen.add(within.shard.name)
    return [*_apart(found[number] for number in sorted(found))]


def _around(place: tuple[ByteRange, int]) -> presence.Span:
    within, start = place
    return within.shard.path, max(within.start, start - 1), min(within.stop, start + 2 * SNIPPET_BYTES)


def scattered(ranges: Sequence[ByteRange], most: int, size: int) -> list[Snippet]:
    """At most `most` snippets, and about `size` bytes, in the order of shards and bytes: the first, the last and some between them."""
    plain = [one for one in ranges if shards.is_plain(one.shard)]
    places = _places(plain, max(1, most // max(1, len(plain))), plain[-1:])
    return _taken(places, most, size, 0)


def _apart(found: Iterable[Snippet]) -> Iterator[Snippet]:
    """Those that do not begin within the one before them."""
    last: Snippet | None = None
    for snippet in found:
        if last is None or snippet.within.shard != last.within.shard or snippet.start >= last.stop:
            last = snippet
            yield snippet


def snippet_at(within: ByteRange, place: int, first_line: int | None = None) -> Snippet | None:
    """The lines of a range from the first on that begins at or behind a byte; None where that is far, or where there is none.

    `first_line` is how many lines of the shard stand before it, if that is known.
    """
    try:
        with shards.opened(within.shard) as stream:
            start = lines.next_end(stream, place - 1, within.stop) if place > within.start else within.start
            stop = lines.next_end(stream, max(start, min(start + SNIPPET_BYTES, within.stop) - 1), within.stop)
    except OSError:
        return None
    known = first_line if start else 0
    return Snippet(within, start, stop, known) if within.start <= start < stop <= start + LONG_BYTES else None


def samples(found: Sequence[Snippet], reading: ReadOptions) -> Iterator[Sample]:
    """The snippets parsed, shard by shard; those of a shard that does not hold them any more are left out."""
    for _, of_shard in groupby(found, key=lambda snippet: snippet.within.shard.name):
        if sample := _parsed([*of_shard], reading):
            yield sample


def _parsed(found: Sequence[Snippet], reading: ReadOptions) -> Sample | None:
    shard, kind = found[0].within.shard, formats.by_name(found[0].within.format, reading.mapping)
    items: list[Line | Problem] = []
    for snippet in found:
        try:
            items += [_numbered(item, snippet) for item in shards.RangeLines(shard, snippet.start, snippet.stop)]
        except RunNotFound:
            return None
    report, parts = LoadReport(), list[Part]()
    part_builder.read_parts(items, shard, kind, reading, report, parts.append)
    return Sample(tuple(found), tuple(parts), tuple(problem for problem in report.problems if problem.line))


def _numbered(item: Line | Problem, snippet: Snippet) -> Line | Problem:
    """With its line in the shard, 0 where that is not known."""
    number = item.line if isinstance(item, Problem) else item.number
    line = 0 if snippet.first_line is None else snippet.first_line + (number or 0)
    return replace(item, line=line) if isinstance(item, Problem) else item._replace(number=line)
