"""Snippets of lines, spread over a run to be parsed, so that curves show early."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board import formats
from board.errors import RunNotFound
from board.runs.cache.columns import Overlaid
from board.runs.cache.parts import Part, part_of_rows
from board.runs.load_report import LoadReport
from board.runs.parsing import part_builder
from board.runs.parsing.byte_range import ByteRange
from board.runs.read_options import ReadOptions
from board.sources import lines, presence, shards
from board.sources.shards import Line, Problem

SNIPPET_BYTES: Final = 65_536
"""Bytes of a snippet, and more where a line is longer."""

SAMPLE_BYTES: Final = (2_000_000, 12_000_000)
"""So much of a run is sampled at first and then, each time of the whole of it: what takes a moment to parse, and what takes a second."""

SHARD_BYTES: Final = 200_000
"""What each shard of a sample costs in addition to its snippets, as bytes that could be parsed in that time."""

MOST_EACH: Final = 16
"""So many snippets of a range at most."""

UNCOUNTED: Final = -1
"""Stands for how many lines are before a snippet where they were not counted."""

LONG_BYTES: Final = 4_000_000
"""A snippet is no longer, whatever its line."""


@dataclass(frozen=True)
class Snippet:
    """Whole lines of a byte range, to be parsed before it."""

    within: ByteRange
    start: int
    stop: int
    lines_before: int
    """Of the byte range: those that stand before the snippet."""


@dataclass(frozen=True)
class StepsOfSnippet:
    """Where a snippet begins in its shard, and the steps of its first and its last row."""

    start: int
    first: int
    last: int


@dataclass(frozen=True)
class Sample:
    """Snippets of one shard, parsed into one part. Its rows and problems are numbered by the lines of the snippets, one after another."""

    snippets: tuple[Snippet, ...]
    first_numbers: tuple[int, ...]
    """How many lines of the sample stand before each snippet."""
    parts: tuple[Part, ...]
    problems: tuple[Problem, ...]

    @property
    def shard(self) -> str:
        """Its name."""
        return self.snippets[0].within.shard.name

    @property
    def size(self) -> int:
        """Bytes that were parsed."""
        return sum(snippet.stop - snippet.start for snippet in self.snippets)

    @property
    def rows(self) -> int:
        """Rollouts in them."""
        return sum(map(len, self.parts))

    @property
    def steps(self) -> list[StepsOfSnippet]:
        """Of the snippets that have rows."""
        found: dict[int, StepsOfSnippet] = {}
        for part in self.parts:
            of_snippets = self._snippets_of(part.scalars.column("line").to_numpy())
            steps = part.scalars.column("step").to_numpy()
            for at in np.unique(of_snippets):
                own = steps[of_snippets == at]
                found[int(at)] = StepsOfSnippet(self.snippets[at].start, int(own[0]), int(own[-1]))
        return [*found.values()]

    def rows_of(self, chosen: NDArray[np.bool_], lines_before: NDArray[np.int64]) -> Iterator[Part]:
        """The rows of the chosen snippets, their lines counted from the shard's first, 0 where that is unknown.

        `lines_before` are how many lines of the shard stand before the byte range of each snippet, -1 where unknown. Both (snippets,).
        """
        for part in self.parts:
            numbers = part.scalars.column("line").to_numpy()
            rows = np.flatnonzero(chosen[self._snippets_of(numbers)])
            if len(rows):
                taken = part_of_rows(part, rows)
                lines_of = self._lines(numbers[rows], lines_before)
                yield replace(taken, scalars=Overlaid(taken.scalars, {"line": pa.chunked_array([lines_of])}))

    def problems_of(self, chosen: NDArray[np.bool_], lines_before: NDArray[np.int64]) -> Iterator[Problem]:
        """The problems of the chosen snippets, as far as their lines are known."""
        for problem in self.problems:
            number = np.array([problem.line or 0])
            line = int(self._lines(number, lines_before)[0])
            if line and chosen[self._snippets_of(number)[0]]:
                yield Problem(problem.shard, line, problem.reason, problem.severity)

    def _snippets_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which snippet each line is in, by its number in the sample. Shape as given."""
        return np.searchsorted(np.array(self.first_numbers), numbers, side="left") - 1

    def _lines(self, numbers: NDArray[np.int64], lines_before: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of lines in the shard by those in the sample, 0 where unknown. Shape as given."""
        at = self._snippets_of(numbers)
        before = np.array([snippet.lines_before for snippet in self.snippets])
        skipped = before - np.array(self.first_numbers)
        return np.where((lines_before[at] < 0) | (before[at] == UNCOUNTED), 0, numbers + skipped[at] + lines_before[at])


def spread(count: int) -> list[int]:
    """The numbers below `count`, ordered so that any first few of them are evenly spread: the last first, then 0."""
    bits = max(1, (count - 1).bit_length())
    order = sorted(range(count), key=lambda number: int(f"{number:0{bits}b}"[::-1], 2))
    return [*order[-1:], *order[:-1]] if count < 2 else [count - 1, *(number for number in order if number != count - 1)]


def snippets(ranges: Sequence[ByteRange], size: int) -> list[Snippet]:
    """Snippets of so many bytes in all, in the order of shards and bytes: some of each range where there are few, and the ends of shards.

    Of what cannot be cut into ranges there are none, nor of what cannot be read. The lines before a snippet of a remote run are not counted,
    as all of them would have to be fetched first: they are UNCOUNTED but for a range's first.
    """
    plain = [one for one in ranges if shards.is_plain(one.shard)]
    each = min(MOST_EACH, max(1, size // SNIPPET_BYTES // max(1, len(plain))))
    places = _places(plain, each, {one.shard.name: one for one in plain}.values())
    is_remote = any(presence.is_remote(one.shard.path) for one in plain[:1])
    apart = _taken(places, len(places), size, SHARD_BYTES, counted=not is_remote)
    return apart if is_remote else _counted(apart)


def _places(plain: Sequence[ByteRange], each: int, ends: Iterable[ByteRange]) -> list[tuple[ByteRange, int]]:
    """Where snippets may begin, in the order of shards and bytes: so many in each byte range, and near the end of some."""
    places = [(one, one.start + (one.stop - one.start) * at // each) for one in plain for at in range(each)]
    places += [(one, max(one.start, one.stop - SNIPPET_BYTES)) for one in ends]
    order = {name: at for at, name in enumerate(dict.fromkeys(one.shard.name for one in plain))}
    return sorted(places, key=lambda place: (order[place[0].shard.name], place[1]))


def _taken(
    places: Sequence[tuple[ByteRange, int]], most: int, size: int, each_shard: int, *, counted: bool = False
) -> list[Snippet]:
    """At most `most` snippets of about `size` bytes, spread over the places, which are in order; a shard costs so many bytes, too."""
    found: dict[int, Snippet] = {}
    numbers, left, seen = spread(len(places))[:most], size, set[str]()
    presence.look_ahead(_around(places[number]) for number in numbers[: max(1, size // SNIPPET_BYTES)])
    for number in numbers:
        if left <= 0:
            break
        within, place = places[number]
        if snippet := snippet_at(within, place, 0 if counted or place == within.start else UNCOUNTED):
            found[number] = snippet
            left -= snippet.stop - snippet.start + (0 if within.shard.name in seen else each_shard)
            seen.add(within.shard.name)
    return [*_apart(found[number] for number in sorted(found))]


def _around(place: tuple[ByteRange, int]) -> presence.Span:
    within, start = place
    return within.shard.path, max(within.start, start - 1), min(within.stop, start + 2 * SNIPPET_BYTES)


def scattered(ranges: Sequence[ByteRange], most: int, size: int) -> list[Snippet]:
    """At most `most` snippets, and about `size` bytes, in the order of shards and bytes: the first, the last and some between them.

    Nothing else is read, so that the lines before them are UNCOUNTED but for a range's first.
    """
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


def snippet_at(within: ByteRange, place: int, lines_before: int = 0) -> Snippet | None:
    """The lines of a range from the first on that begins at or behind a byte; None where that is far, or where there is none."""
    try:
        with shards.opened(within.shard) as stream:
            start = lines.next_end(stream, place - 1, within.stop) if place > within.start else within.start
            stop = lines.next_end(stream, max(start, min(start + SNIPPET_BYTES, within.stop) - 1), within.stop)
    except OSError:
        return None
    return Snippet(within, start, stop, lines_before) if within.start <= start < stop <= start + LONG_BYTES else None


def _counted(found: Iterable[Snippet]) -> list[Snippet]:
    """The snippets with the lines before them; without those of ranges that cannot be read any more."""
    counted: list[Snippet] = []
    for within, of_range in groupby(found, key=lambda snippet: snippet.within):
        at, before = within.start, 0
        with suppress(OSError), shards.opened(within.shard) as stream:
            for snippet in of_range:
                before += lines.ends(stream, at, snippet.start)
                at = snippet.start
                counted.append(replace(snippet, lines_before=before))
    return counted


def samples(found: Sequence[Snippet], reading: ReadOptions) -> Iterator[Sample]:
    """The snippets parsed, shard by shard; those of a shard that does not hold them any more are left out."""
    for _, of_shard in groupby(found, key=lambda snippet: snippet.within.shard.name):
        if sample := _parsed([*of_shard], reading):
            yield sample


def _parsed(found: Sequence[Snippet], reading: ReadOptions) -> Sample | None:
    shard, kind = found[0].within.shard, formats.by_name(found[0].within.format, reading.mapping)
    items: list[Line | Problem] = []
    first_numbers, count = [], 0
    for snippet in found:
        first_numbers.append(count)
        read = shards.RangeLines(shard, snippet.start, snippet.stop)
        try:
            items += [_renumbered(item, count) for item in read]
        except RunNotFound:
            return None
        count += read.count
    report, parts = LoadReport(), list[Part]()
    part_builder.read_parts(items, shard, kind, reading, report, parts.append)
    return Sample(tuple(found), tuple(first_numbers), tuple(parts), tuple(report.problems))


def _renumbered(item: Line | Problem, before: int) -> Line | Problem:
    if isinstance(item, Problem):
        return replace(item, line=before + (item.line or 0))
    return item._replace(number=before + item.number)
