"""One load of a run: parse and store what is missing of it.

Of several processes one parses at a time, the others wait and take what it has written: a lock on a file in the cache's folder, which ends with
its process. Without such locks (another system, a file system that has none) each process parses alone, as does one that has
waited for a process that makes no progress.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from board.errors import BoardError, RunNotFound
from board.runs.cache.store import Store
from board.runs.load_report import LoadReport
from board.runs.loading.disk_room import refuse_without_room
from board.runs.loading.parsed_run import ParsedRun, missing_of
from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.manifest_saver import ManifestSaver
from board.runs.parsing.parsed_shard import ParsedShard, found_again, from_cache, is_another
from board.runs.parsing.part_reader import read_tail
from board.runs.parsing.range_parsing import Outcome, RangeParser, WorkQueue
from board.runs.read_options import ReadOptions
from board.sources.shards import Shard

_lock: Callable[[int, int], None] | None
try:
    from fcntl import LOCK_EX, LOCK_NB
    from fcntl import flock as _lock
except ImportError:  # Windows
    _lock = None

FILE: Final = "loading.lock"

STALLED_SECONDS: Final = 30.0
"""A process that has said nothing for so long, being stopped or on a machine that fell, is not waited for any longer."""

_LOOK_SECONDS: Final = 0.1
_BEAT_SECONDS: Final = 1.0


class LoadingTurn:
    """The turn of one load, whose parts go into `folder`. Of no other thread's concern."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._held: int | None = None
        self._beaten_at = 0.0

    @contextmanager
    def taken(self, meanwhile: Callable[[], None]) -> Iterator[None]:
        """Hold the lock: no other process has it within. While another has it, `meanwhile` is called again and again; it may raise."""
        descriptor = self._opened()
        try:
            while descriptor is not None and not self._has_come(descriptor, meanwhile):
                os.close(descriptor)
                descriptor = self._opened()
            self._held = descriptor
            yield
        finally:
            self._held = None
            if descriptor is not None:
                os.close(descriptor)

    def go_on(self) -> None:
        """Show those who wait that this load goes on; to be called often."""
        now = time.monotonic()
        if self._held is not None and now - self._beaten_at > _BEAT_SECONDS:
            self._beaten_at = now
            with suppress(OSError):
                os.utime(self._held)

    def _opened(self) -> int | None:
        """The lock's file; None where it cannot be had."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        if _lock is None:
            return None
        try:
            descriptor = os.open(self._path, flags, 0o600)
        except OSError:
            return None
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        return None

    def _has_come(self, descriptor: int, meanwhile: Callable[[], None]) -> bool:
        """Wait until this one holds the lock, or need not; False where the file is no longer the one that others would lock."""
        assert _lock is not None
        seen, since = -1, time.monotonic()
        while True:
            try:
                _lock(descriptor, LOCK_EX | LOCK_NB)
                return self._is_there(descriptor)
            except BlockingIOError:
                beat = os.fstat(descriptor).st_mtime_ns
            except OSError:  # no locks here
                return True
            if beat != seen:
                seen, since = beat, time.monotonic()
            if time.monotonic() - since > STALLED_SECONDS:
                return True
            meanwhile()
            time.sleep(_LOOK_SECONDS)

    def _is_there(self, descriptor: int) -> bool:
        """Whether the file still stands where it was opened: the cache may be deleted at any time. True where there is no telling."""
        ours = os.fstat(descriptor)
        try:
            there = self._path.lstat()
        except FileNotFoundError:
            return not self._path.parent.is_dir()
        except OSError:
            return True
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


_TIMES: Final = 5
"""So many times a shard is read that is another each time it has been."""

_FOLLOW_SECONDS: Final = 0.5
"""Between two looks at what another process has parsed: it says so every two."""


class Loader(ParsedRun):
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
        """What `ParsedRun.done` counts, once loading has begun: to count all pieces anew for each would take the square of the time."""
        super().__init__(found, store, reading)
        self.gather()
        self._settle_ends()

    @contextmanager
    def loading(self, work: WorkQueue | None = None, *, only_helpers: bool = False) -> Iterator[None]:
        """Parse what is missing, which is all of `work` where that is given; it is stored when the context ends, and used meanwhile.

        `only_helpers` as in `RangeParser.parsing`. Raises RunNotFound, before anything is fetched, where a remote run has no room on the disk.
        """
        work = self.missing() if work is None else work
        refuse_without_room(work.waiting())
        with self._alone(work), ManifestSaver(self.store) as saver:
            self._follow(work)
            self._done = super().done()
            with self._parser.parsing(work, self._tell, only_helpers=only_helpers) as outcomes:
                self._take_all(outcomes, work, saver)
                times = 1
                while again := self._replaced(saver, is_last=times == _TIMES):
                    times += 1
                    with self._parser.parsing(again, self._tell, only_helpers=only_helpers) as found:
                        self._take_all(found, again, saver)
                yield
        if self._writable:
            self.store.clean({file.name for parsed in self.shards.values() for piece in parsed.pieces for file in piece.files})

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
            parsed = self.shards[byte_range.shard.name]
            self._parser.under_way.pop(parsed.shard.name, None)
            self._read.add(parsed.shard.name)
            self._take(parsed, byte_range, outcome, saver)
            if parsed.is_replaced or (parsed.broken and is_another(parsed, to_the_end=False)):
                work.keep_of(parsed.shard.name, [])
                parsed.drop()
                self._done = super().done()
            self._tell()

    def _replaced(self, saver: ManifestSaver, *, is_last: bool) -> WorkQueue:
        """The ranges of shards that were replaced while they were read, to be read anew; `is_last` refuses them instead."""
        names = [
            name for name, parsed in self.shards.items() if name in self._read or (parsed.tail is None and parsed.has_tail())
        ]
        self._read.clear()
        ranges: list[ByteRange] = []
        for name in names:
            try:
                read_tail(self.shards[name], self.reading)
            except RunNotFound as error:
                self.shards[name].refuse(str(error))
            if not is_another(self.shards[name], to_the_end=True):
                continue
            shard = self.shards[name].shard
            with suppress(OSError):
                shard = found_again(shard)
            parsed = self.shards[name] = from_cache(replace(shard, objects=False), None, self.reading.mapping)
            saver.again(parsed)
            if is_last:
                parsed.refuse(f"was replaced each of the {_TIMES} times that it was read: load the run again")
            else:
                ranges += missing_of(parsed)
            self._done = super().done()
        return WorkQueue([*ranges, *self._settle_ends()])

    def _settle_ends(self) -> list[ByteRange]:
        """What of the run is to be read anew, as what was read of it since tells more of its end tokens."""
        again = self.doubted()
        self._parser.reading = self.reading
        self._done = super().done() if again else self._done
        return again

    def _take(self, parsed: ParsedShard, byte_range: ByteRange, outcome: Outcome, saver: ManifestSaver) -> None:
        """Note what became of a range."""
        before = parsed.done()
        if isinstance(outcome, BoardError):
            parsed.refuse(str(outcome))
        elif isinstance(outcome, OSError):  # the disk is full, or the cache is not ours to write
            self.cache_note = self.cache_note or str(outcome)
            self.hold(byte_range)
        else:
            parsed.add(outcome)
            saver.add(parsed, outcome)
        bytes_before, rows_before = before
        size, rows = parsed.done()
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
        """Say whose the shards are, and what was left out or could not be cached."""
        super().describe(report)
        report.cache_note = self.cache_note if any(parsed.in_memory for parsed in self.shards.values()) else ""


def _unwritable(store: Store) -> str:
    """Why the cache cannot be written; empty when it can."""
    try:
        store.open()
    except OSError as error:
        return str(error)
    return ""
