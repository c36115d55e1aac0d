"""One load of a run: what of it is missing is parsed and kept, and what became of each byte range is noted.

Knows byte ranges, the store and how far a load has come; knows neither what a row means nor what a run is.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Final

from board.errors import BoardError, RunNotFound
from board.runs.byte_range import ByteRange
from board.runs.disk_room import refuse_without_room
from board.runs.kept_run import KeptRun, missing_of
from board.runs.load_report import LoadReport
from board.runs.loading_turn import LoadingTurn
from board.runs.manifest_saver import ManifestSaver
from board.runs.parsed_shard import ParsedShard, as_kept, found_again, is_another
from board.runs.part_reader import read_tail
from board.runs.range_parsing import RangeParser
from board.runs.read_options import ReadOptions
from board.runs.store import Store
from board.runs.work_queue import WorkQueue
from board.runs.worker_pool import Outcome
from board.sources.shards import Shard

_TIMES: Final = 5
"""So many times a shard is read that is another each time it has been."""

_FOLLOW_SECONDS: Final = 0.5
"""Between two looks at what another process has parsed: it says so every two."""


class Loader(KeptRun):
    """Finds what is missing, has it parsed, keeps it, and tells how far it is. What another process is parsing it takes from there.

    Interrupted at any place, even by an exception out of `on_progress`, it keeps what was parsed so far.
    """

    def __init__(
        self, found: Sequence[Shard], store: Store, reading: ReadOptions, on_progress: Callable[[int, int], None] | None = None
    ) -> None:
        self._on_progress = on_progress
        unwritable = _unwritable(store)
        self.cache_note = unwritable
        self._parser = RangeParser(store, reading, unwritable)
        self._writable = not unwritable
        self._turn = LoadingTurn(store.folder)
        self._followed_at = 0.0
        self._read = set[str]()
        """Shards of which ranges were read since it was looked whether they are still the same."""
        self._done: tuple[int, int] | None = None
        """What `KeptRun.done` counts, once loading has begun: to count all pieces anew for each would take the square of the time."""
        super().__init__(found, store, reading)
        self.gather()
        self._settle_ends()

    @contextmanager
    def loading(self, work: WorkQueue | None = None, *, aside: bool = False) -> Iterator[None]:
        """Parse what is missing, which is all of `work` where that is given; it is kept when the context ends, and used meanwhile.

        `aside` as `RangeParser.parsing` takes it. Raises RunNotFound, before anything is fetched, where a remote run has no room on the disk.
        """
        work = self.missing() if work is None else work
        refuse_without_room(work.waiting())
        with self._alone(work), ManifestSaver(self.store) as saver:
            self._follow(work)
            self._done = super().done()
            with self._parser.parsing(work, self._tell, aside=aside) as outcomes:
                self._take_all(outcomes, work, saver)
                times = 1
                while again := self._replaced(saver, is_last=times == _TIMES):
                    times += 1
                    with self._parser.parsing(again, self._tell, aside=aside) as found:
                        self._take_all(found, again, saver)
                yield
        if self._writable:
            self.store.clean({file.name for kept in self.kept.values() for piece in kept.pieces for file in piece.files})

    def _alone(self, work: WorkQueue) -> AbstractContextManager[None]:
        """A context in which no other process parses this run, unless one cannot know."""
        return self._turn.taken(lambda: self._wait(work)) if self._writable and len(work) else nullcontext()

    def _wait(self, work: WorkQueue) -> None:
        """Another process parses the run: take what is there of it by now."""
        if time.monotonic() - self._followed_at > _FOLLOW_SECONDS:
            self._follow(work)
            self._followed_at = time.monotonic()
        self._tell()

    def _follow(self, work: WorkQueue) -> None:
        """Take what others have parsed of shards that are waiting, and leave it out of `work`."""
        for name in dict.fromkeys(one.shard.name for one in work.waiting()):
            if (ranges := self.missing_now(name)) is not None:
                work.keep_of(name, ranges)

    def _take_all(self, outcomes: Iterator[tuple[ByteRange, Outcome]], work: WorkQueue, saver: ManifestSaver) -> None:
        for byte_range, outcome in outcomes:
            kept = self.kept[byte_range.shard.name]
            self._parser.under_way.pop(kept.shard.name, None)
            self._read.add(kept.shard.name)
            self._take(kept, byte_range, outcome, saver)
            if kept.is_replaced or (kept.broken and is_another(kept, to_the_end=False)):
                work.keep_of(kept.shard.name, [])
                kept.drop()
                self._done = super().done()
            self._tell()

    def _replaced(self, saver: ManifestSaver, *, is_last: bool) -> WorkQueue:
        """The ranges of shards that were replaced while they were read, to be read anew; `is_last` refuses them instead."""
        names = [name for name, kept in self.kept.items() if name in self._read or (kept.tail is None and kept.has_tail())]
        self._read.clear()
        ranges: list[ByteRange] = []
        for name in names:
            try:
                read_tail(self.kept[name], self.reading)
            except RunNotFound as error:
                self.kept[name].refuse(str(error))
            if not is_another(self.kept[name], to_the_end=True):
                continue
            shard = self.kept[name].shard
            with suppress(OSError):
                shard = found_again(shard)
            kept = self.kept[name] = as_kept(replace(shard, objects=False), None, self.reading.mapping)
            saver.again(kept)
            if is_last:
                kept.refuse(f"was replaced each of the {_TIMES} times that it was read: load the run again")
            else:
                ranges += missing_of(kept)
            self._done = super().done()
        return WorkQueue([*ranges, *self._settle_ends()])

    def _settle_ends(self) -> list[ByteRange]:
        """What of the run is to be read anew, as what was read of it since tells more of its end tokens."""
        again = self.doubted()
        self._parser.reading = self.reading
        self._done = super().done() if again else self._done
        return again

    def _take(self, kept: ParsedShard, byte_range: ByteRange, outcome: Outcome, saver: ManifestSaver) -> None:
        """Note what became of a range."""
        before = kept.done()
        if isinstance(outcome, BoardError):
            kept.refuse(str(outcome))
        elif isinstance(outcome, OSError):  # the disk is full, or the cache is not ours to write
            self.cache_note = self.cache_note or str(outcome)
            self.hold(byte_range)
        else:
            kept.add(outcome)
            saver.add(kept, outcome)
        bytes_before, rows_before = before
        size, rows = kept.done()
        known_bytes, known_rows = self._done or (0, 0)
        self._done = known_bytes + size - bytes_before, known_rows + rows - rows_before

    def _tell(self) -> None:
        self._turn.go_on()
        if self._on_progress:
            self._on_progress(*self.done())

    def done(self) -> tuple[int, int]:
        """How many bytes have been read so far, by this load or an earlier one, and how many rollouts there are in them."""
        size, rows = self._done or super().done()
        return size + sum(self._parser.under_way.copy().values()), rows

    def describe(self, report: LoadReport) -> None:
        """Say whose the shards are, and what was left out or could not be kept."""
        super().describe(report)
        report.cache_note = self.cache_note if any(kept.in_memory for kept in self.kept.values()) else ""


def _unwritable(store: Store) -> str:
    """Why the cache cannot be written; empty when it can."""
    try:
        store.open()
    except OSError as error:
        return str(error)
    return ""
