"""Prefetch for a load: choose which byte ranges are read next.

Looks up what a link names and samples the whole run, in a thread of its own, parallel to parsing. No guess of it is shown as true: a guess
only changes the order of reading.
"""

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.formats import filename_hints
from board.runs.cache.rollout import parsed_source
from board.runs.loading import sampling
from board.runs.loading.sampling import Sample, Snippet
from board.runs.loading.snapshot import Snapshot
from board.runs.parsing import range_parsing
from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.range_parsing import WorkQueue
from board.runs.read_options import ReadOptions
from board.sources import lines, presence, shards

WHOLE_SHARDS: Final = 32
"""So many shards that cannot be sampled are read first, spread over the run."""

WANTED: Final = 16
"""So many ranges of the step on the screen are in a sample for certain: more would leave little room for others."""


@dataclass(frozen=True)
class ReadPriority:
    """What a reader looks at: to be read first."""

    step: int | None = None
    rollout: str = ""
    """As links name it; empty for none."""


class Prefetcher:
    """The prefetcher of one load. Ends with the load, or when it is done."""

    def __init__(self, priority: ReadPriority | None = None) -> None:
        self._priority = priority or ReadPriority()
        self._begun: threading.Thread | None = None
        self._step: int | None = None
        """Of the rollout that was looked up."""
        self._ended, self._news, self._changed = threading.Event(), threading.Event(), threading.Event()
        self.linked: tuple[Sample, ...] = ()
        """Stretches with what links name."""
        self._hoped: frozenset[tuple[str, int]] = frozenset()
        """Shards and starts of the byte ranges that should hold the step on the screen, until they are parsed."""

    def begin(self, work: WorkQueue, snapshot: Snapshot, reading: ReadOptions) -> None:
        """Start, where there is so much to parse that going ahead is worth it."""
        if not len(work) or range_parsing.is_small(work):
            return
        self._work, self._snapshot, self._reading = work, snapshot, reading
        self._ranges = work.waiting()
        self._begun = threading.Thread(target=self._go, name="prefetching", daemon=True)
        self._begun.start()

    def is_first(self) -> bool:
        """Whether it has found nothing yet and is still at it: it is quicker while no other thread works."""
        return self._begun is not None and self._begun.is_alive() and not self._news.is_set()

    def end(self) -> None:
        """Go no further."""
        self._ended.set()
        self._changed.set()

    def has_news(self) -> bool:
        """Whether there is something new since the last call that a reader waits for: what was looked up, or the step on the screen."""
        found = self._news.is_set()
        self._news.clear()
        if self._hoped and not self._hoped - self._snapshot.parsed():
            self._hoped = frozenset()
            return True
        return found

    def prioritise(self, priority: ReadPriority) -> None:
        """A reader looks at something else now."""
        if priority != self._priority:
            self._priority = priority
            self._changed.set()

    def _go(self) -> None:
        with suppress(OSError):  # a file that cannot be read any more, which the load itself meets and reports
            self._prefetch()

    def _prefetch(self) -> None:
        self._look_up()
        self._prefer_some_whole()
        for size in sampling.SAMPLE_BYTES:
            for sample in sampling.samples(self._free(sampling.snippets(self._ranges, size)), self._reading):
                if self._ended.is_set():
                    return
                self._add(sample)
            self._prefer_step()
            self._news.set()
        while not self._ended.is_set():
            self._changed.wait()
            self._changed.clear()
            self._look_up()
            self._prefer_step()

    def _add(self, sample: Sample) -> None:
        if sample.parts:
            self._snapshot.samples = (*self._snapshot.samples, sample)

    def _free(self, found: list[Snippet]) -> list[Snippet]:
        """The snippets, or what of them stands before the next one, that no sample holds already."""
        held = [snippet for sample in self._snapshot.samples for snippet in sample.snippets]
        free = []
        for snippet in found:
            overlapping = [one for one in held if one.within.shard == snippet.within.shard and one.stop > snippet.start]
            stop = min([snippet.stop, *(one.start for one in overlapping)])
            if stop > snippet.start:
                free.append(replace(snippet, stop=stop))
        return free

    def _prefer_some_whole(self) -> None:
        """Shards of which no snippet can be sampled are read whole: some of them first."""
        whole = [one for one in self._ranges if not shards.is_plain(one.shard)]
        first = {whole[at].shard.name for at in sampling.spread(len(whole))[:WHOLE_SHARDS]}
        if first:
            self._work.prefer(lambda one: one.shard.name in first)

    def _look_up(self) -> None:
        """Parse the line that the link names, and have its byte range read next."""
        named = parsed_source(self._priority.rollout) if self._priority.rollout else None
        ranges = [one for one in self._ranges if named and one.shard.name == named.shard]
        if named is None or not ranges:
            return
        if not shards.is_plain(ranges[0].shard) or (named.line is not None and presence.is_remote(ranges[0].shard.path)):
            self._work.prefer(lambda one: one.shard.name == named.shard)
            return
        found = _by_offset(ranges, named.offset or 0) if named.line is None else self._by_line(ranges, named.line)
        if found is None:
            return
        self._work.prefer(lambda one: one == found.within)
        for sample in sampling.samples(self._free([found]) if found.first_line is None else [found], self._reading):
            if found.first_line is not None:  # its rows may have been sampled before, without their lines
                self._snapshot.samples = tuple(one.without(found) for one in self._snapshot.samples)
            self._add(sample)
            self.linked = (*self.linked, sample)
            self._step = int(sample.parts[0].scalars.column("step")[0].as_py()) if sample.parts else self._step
        self._news.set()

    def _by_line(self, ranges: list[ByteRange], line: int) -> Snippet | None:
        """The snippet that begins with a line, by counting the lines before it; None where it was read before, or cannot be found."""
        parsed = {piece.start: piece for piece in self._snapshot.pieces(ranges[0].shard.name)}
        missing = {one.start: one for one in ranges}
        counted = self._snapshot.counted.setdefault(ranges[0].shard, {0: 0})
        at = max((place for place, before in counted.items() if before < line), default=0)
        with suppress(OSError), shards.opened(ranges[0].shard) as stream:  # the load itself meets and reports it
            while not self._ended.is_set() and (piece := parsed.get(at) or missing.get(at)):
                if isinstance(piece, ByteRange) and piece.stop - at > lines.longest_line():
                    return None  # not every line end may be one of its lines
                before = counted[at]
                counted[piece.stop] = before + (
                    lines.ends(stream, at, piece.stop) if isinstance(piece, ByteRange) else piece.lines
                )
                if counted[piece.stop] >= line > before:
                    if at not in missing:
                        self._news.set()  # its rows have their lines now
                        return None
                    start = lines.start_of(stream, at, piece.stop, line - 1 - before)
                    return None if start is None else sampling.snippet_at(missing[at], start, line - 1)
                at = piece.stop
        return None

    def _prefer_step(self) -> None:
        """Have the ranges read next that should hold the step which is on the screen, by what was sampled around them."""
        step = self._priority.step if self._priority.step is not None else self._step
        if step is not None:
            likely = {*self._likely(step)}
            self._work.prefer(lambda one: one in likely)
            self._hoped = frozenset((one.shard.name, one.start) for one in likely)
            self._snapshot.loader.wanted = frozenset(sorted(self._hoped)[:WANTED])

    def _likely(self, step: int) -> Iterator[ByteRange]:
        """Ranges that hold the step if steps rise within a shard, or if the name of their file is right."""
        sampled: dict[str, list[NDArray[np.int64]]] = {}
        for sample in self._snapshot.samples:
            for part in sample.parts:
                rows = np.stack([part.scalars.column(name).to_numpy() for name in ("offset", "step")])
                sampled.setdefault(sample.shard.name, []).append(rows)
        courses = {name: _Course(np.hstack(found)) for name, found in sampled.items()}
        for one in self._ranges:
            said, course = filename_hints.step_in(one.shard.name), courses.get(one.shard.name)
            if said == step or (course and course.passes(step, one)):
                yield one


class _Course:
    """How the steps of a shard's sampled rows rise."""

    def __init__(self, rows: NDArray[np.int64]) -> None:
        """(2, rows): the byte at which each begins, and its step."""
        self._offsets, steps = rows[:, np.argsort(rows[0])]
        self._highest_before, self._lowest_after = np.maximum.accumulate(steps), np.minimum.accumulate(steps[::-1])[::-1]

    def passes(self, step: int, within: ByteRange) -> bool:
        """Whether it comes to a step between the rows before a byte range and those behind it."""
        before, after = np.searchsorted(self._offsets, within.start, side="right"), np.searchsorted(self._offsets, within.stop)
        if not before:
            return False
        least = self._highest_before[before - 1]
        return bool(least <= step <= (self._lowest_after[after] if after < len(self._lowest_after) else least))


def _by_offset(ranges: list[ByteRange], offset: int) -> Snippet | None:
    within = next((one for one in ranges if one.start <= offset < one.stop), None)
    return None if within is None else sampling.snippet_at(within, offset)
