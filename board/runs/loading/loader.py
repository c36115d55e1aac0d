"""One load of a run: parse and store what is missing of it.

Of several processes one parses at a time, the others wait and take what it has written: a lock on a file in the cache's folder, which ends with
its process. Without such locks (another system, a file system that has none) each process parses alone, as does one that has
waited for a process that makes no progress.
"""

import os
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import accumulate, count
from math import inf
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout
from xxhash import xxh32_intdigest

from board.errors import BoardError, RunNotFound
from board.runs.cache.cache_care import refuse_without_room
from board.runs.cache.part_folder import Manifest
from board.runs.cache.store import Store
from board.runs.load_report import LoadReport
from board.runs.loading import sampling
from board.runs.loading.parsed_run import ParsedRun, missing_of
from board.runs.parsing import parsed_shard
from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.format_detection import format_of
from board.runs.parsing.parsed_shard import ParsedShard, found_again, from_cache, is_another
from board.runs.parsing.part_reader import read_tail
from board.runs.parsing.range_parsing import Outcome, RangeParser, Rank, WorkQueue, expected_bytes
from board.runs.read_options import ReadOptions
from board.sources import presence
from board.sources.shards import Shard

FILE: Final = "loading.lock"

STALLED_SECONDS: Final = 30.0
"""A process that has not gone on for so long, being stopped or on a machine that fell, is not waited for any longer."""

_LOOK_SECONDS: Final = 0.1

SLOTS: Final = 4_096
"""A run that is larger than what is opened is cut into no more ranges than these and one for each shard: a sample takes some of them."""

LEAST_BYTES: Final = 200
"""A rollout hardly ever has fewer."""

SURE: Final = 1.2
"""A run is expected to be larger than what is opened where it seems to have so many times as many rollouts."""

_SAVE_SECONDS: Final = 2.0
"""What is parsed is named in its shard's manifest no sooner again, and at the end."""


@contextmanager
def loading_turn(folder: Path, meanwhile: Callable[[], None]) -> Iterator[None]:
    """A context in which no other process parses into a folder of parts. `meanwhile` is called while another does, and may raise."""
    lock, seen, since = FileLock(folder / FILE), -1, time.monotonic()
    while folder.is_dir():
        try:
            lock.acquire(blocking=False)
            break
        except Timeout:
            pass
        except (OSError, NotImplementedError):  # no locks here
            break
        with suppress(OSError):
            if (beat := (folder / FILE).lstat().st_mtime_ns) != seen:
                seen, since = beat, time.monotonic()
        if time.monotonic() - since > STALLED_SECONDS:
            break
        meanwhile()
        time.sleep(_LOOK_SECONDS)
    try:
        yield
    finally:
        lock.release()


_TIMES: Final = 5
"""So many times a shard is read that is another each time it has been."""

_FOLLOW_SECONDS: Final = 0.5
"""Between two looks at what another process has parsed: it says so every two."""


class Loader(ParsedRun):
    """Finds what is missing, has it parsed, keeps it, and tells how far it is. What another process is parsing it takes from there.

    Of a run of more than `most` rollouts a sample is opened: byte ranges in the order of a hash of their places, as many as are no more
    rollouts than that, and one at least. It is the same at each opening, and most of it stays when the run grows.

    Interrupted at any place, even by an exception out of `on_progress`, it keeps what was parsed so far.
    """

    def __init__(
        self,
        found: Sequence[Shard],
        store: Store,
        reading: ReadOptions,
        on_progress: Callable[[int, int], None] | None = None,
        most: float = inf,
    ) -> None:
        self._on_progress, self.most = on_progress, most
        unwritable = _unwritable(store)
        self.cache_note = unwritable
        self._parser = RangeParser(store, reading, unwritable)
        self._writable = not unwritable
        self._followed_at = 0.0
        self._unsaved: dict[str, ParsedShard] = {}
        """Shards with pieces that no manifest names yet, by name."""
        self._saved_at = time.monotonic()
        self._read = set[str]()
        """Shards of which ranges were read since it was looked whether they are still the same."""
        self._done: tuple[int, int] | None = None
        """What `ParsedRun.done` counts, once loading has begun: to count all pieces anew for each would take the square of the time."""
        super().__init__(found, store, reading)
        self.gather()
        times = SLOTS * parsed_shard.RANGE_BYTES // max(1, sum(one.shard.size for one in self.shards.values()))
        self._slot = max(1, parsed_shard.RANGE_BYTES >> max(0, times.bit_length() - 1))
        """Bytes: by halves, so that it stays as it is while a run grows a little."""
        self._settle_ends()

    def missing(self) -> WorkQueue:
        """As of any run; of one that is expected to be larger than what is opened in small ranges, those first that a sample has."""
        if not self._is_larger():
            return super().missing()
        self.range_bytes = self._slot
        return WorkQueue(sorted(super().missing().waiting(), key=self._rank))

    def _is_larger(self) -> bool:
        """Whether the run is sure to have more rollouts than are opened, by what is parsed of it, or seems to, by stretches of it."""
        (parsed, rows), shards = super().done(), self.shards.values()
        total = sum(one.shard.size for one in shards)
        if rows > self.most or total - parsed <= LEAST_BYTES * (self.most - rows):
            return rows > self.most
        ranges = [ByteRange(one.shard, 0, one.shard.size, format_of(one.identity)) for one in shards]
        seen = [*sampling.samples(sampling.snippets(ranges, sampling.SAMPLE_BYTES[0]), self.reading)]
        return sum(one.rows for one in seen) * total > SURE * self.most * sum(one.size for one in seen)

    def _rank(self, one: ByteRange) -> Rank:
        place = one.shard.name, one.start
        turn = -1 if place in self.wanted else xxh32_intdigest(f"{one.shard.name} {one.start // self._slot}".encode())
        return turn, *place

    def beyond(self) -> list[Rank]:
        """The parsed pieces that are beyond the sample, rising; none where all of the run is opened."""
        if self.done()[1] <= self.most:
            return []
        rows = {self._rank(parsed.range_of(one)): one.rows for parsed in self.shards.values() for one in parsed.pieces}
        ranks = sorted(rows)
        return ranks[max(1, bisect_right([*accumulate(rows[rank] for rank in ranks)], self.most)) :]

    @contextmanager
    def loading(self, work: WorkQueue | None = None, *, only_helpers: bool = False) -> Iterator[None]:
        """Parse what is missing, which is all of `work` where that is given; it is stored when the context ends, and used meanwhile.

        `only_helpers` as in `RangeParser.parsing`. Raises RunNotFound, before anything is fetched, where a remote run has no room on the disk.
        """
        work = self.missing() if work is None else work
        if (waiting := work.waiting()) and not self.range_bytes and presence.is_remote(waiting[0].shard.path):
            refuse_without_room(sum(map(expected_bytes, waiting)))
        with self._alone(work):
            self._follow(work)
            self._done = super().done()
            try:
                for times in count(1):
                    self._leave_out(work)
                    with self._parser.parsing(work, self._go_on, only_helpers=only_helpers) as outcomes:
                        self._take_all(outcomes, work)
                    if not (work := self._replaced(is_last=times == _TIMES)):
                        break
                yield
            finally:
                self._save()
        if self._writable:
            self.store.clean({file.name for parsed in self.shards.values() for piece in parsed.pieces for file in piece.files})

    def _alone(self, work: WorkQueue) -> AbstractContextManager[None]:
        """A context in which no other process parses this run, unless one cannot know."""
        return loading_turn(self.store.folder, lambda: self._wait(work)) if self._writable and len(work) else nullcontext()

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

    def _take_all(self, outcomes: Iterator[tuple[ByteRange, Outcome]], work: WorkQueue) -> None:
        for byte_range, outcome in outcomes:
            parsed = self.shards[byte_range.shard.name]
            self._parser.under_way.pop(parsed.shard.name, None)
            self._read.add(parsed.shard.name)
            self._take(parsed, byte_range, outcome)
            if parsed.is_replaced or (parsed.broken and is_another(parsed, to_the_end=False)):
                work.keep_of(parsed.shard.name, [])
                parsed.drop()
                self._done = super().done()
            if time.monotonic() - self._saved_at > _SAVE_SECONDS:
                self._save()
            self._leave_out(work)
            self._go_on()

    def _leave_out(self, work: WorkQueue) -> None:
        """Of what waits, all that a sample of the run does not have."""
        if beyond := self.beyond():
            work.keep_before(beyond[0], self._rank)

    def _save(self) -> None:
        """Write the manifests of shards that have new pieces.

        Neither is flushed: of what the machine's fall spoils the sums tell, and it is parsed again. A cache that cannot be written costs only
        the next load's time.
        """
        for parsed in self._unsaved.values():
            pieces, identity = tuple(piece for piece in parsed.pieces if piece.start not in parsed.in_memory), parsed.identity
            with suppress(OSError):
                self.store.write_manifest(parsed.shard, Manifest(identity.format, identity.note, identity.objects, pieces))
        self._unsaved.clear()
        self._saved_at = time.monotonic()

    def _replaced(self, *, is_last: bool) -> WorkQueue:
        """The ranges of shards that were replaced while they were read, to be read anew; `is_last` refuses them instead."""
        known = {} if self.beyond() else self.shards  # else no shard is read to its end
        names = [name for name, parsed in known.items() if name in self._read or (parsed.tail is None and parsed.has_tail())]
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
            self._unsaved[name] = parsed  # what its manifest names is of another file
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

    def _take(self, parsed: ParsedShard, byte_range: ByteRange, outcome: Outcome) -> None:
        """Note what became of a range."""
        before = parsed.done()
        if isinstance(outcome, BoardError):
            parsed.refuse(str(outcome))
        elif isinstance(outcome, OSError):  # the disk is full, or the cache is not ours to write
            self.cache_note = self.cache_note or str(outcome)
            self.hold(byte_range)
        else:
            parsed.add(outcome)
            self._unsaved[parsed.shard.name] = parsed
        bytes_before, rows_before = before
        size, rows = parsed.done()
        known_bytes, known_rows = self._done or (0, 0)
        self._done = known_bytes + size - bytes_before, known_rows + rows - rows_before

    def _go_on(self) -> None:
        """Tell how far it is, those who wait for their turn, too: some ranges take long before anything of them is written."""
        with suppress(OSError):
            os.utime(self.store.folder / FILE, follow_symlinks=False)
        self._tell()

    def _tell(self) -> None:
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
