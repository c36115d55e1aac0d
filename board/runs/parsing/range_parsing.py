"""Have byte ranges parsed and stored: here if they are small, else in processes too."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from board.errors import BoardError, RunNotFound
from board.runs.cache.part_folder import Piece, piece_from
from board.runs.cache.store import Store
from board.runs.child_process import Ask, Helpers, processors
from board.runs.parsing import worker
from board.runs.parsing.byte_range import ByteRange, parse
from board.runs.read_options import ReadOptions
from board.sources import shards

SMALL_BYTES: Final = 64_000_000
"""Less than this is parsed sooner here than with the help of processes that must start first."""

_COMPRESSION: Final = 6
"""How many bytes of rollouts a byte of a compressed shard is taken for."""

Outcome = Piece | BoardError | OSError
"""What became of a byte range: its stored piece, the shard's fault, or the cache's."""


Rank = tuple[int, str, int]
"""Where a byte range stands in the order in which a sample takes them, its shard and its start."""


class WorkQueue:
    """Byte ranges that wait to be parsed, each taken once, the first of them first. Threads share it."""

    def __init__(self, ranges: Iterable[ByteRange]) -> None:
        self._waiting = [*ranges]
        self._changing = threading.Lock()

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def take(self) -> ByteRange | None:
        """The range whose turn it is; None when none waits."""
        with self._changing:
            return self._waiting.pop(0) if self._waiting else None

    def waiting(self) -> list[ByteRange]:
        """Those not taken yet, in their order."""
        with self._changing:
            return [*self._waiting]

    def prefer(self, is_preferred: Callable[[ByteRange], bool]) -> None:
        """Put the ranges for which `is_preferred` holds before the others, both in the order they are in."""
        with self._changing:
            self._waiting.sort(key=lambda byte_range: not is_preferred(byte_range))

    def keep_before(self, end: Rank, rank: Callable[[ByteRange], Rank]) -> None:
        """Leave out those that do not rank before `end`; the others by their ranks."""
        with self._changing:
            self._waiting = sorted((one for one in self._waiting if rank(one) < end), key=rank)

    def keep_of(self, shard: str, ranges: Sequence[ByteRange]) -> None:
        """Of a shard these are missing now: what else waits of it goes, and those that did not wait come last."""
        with self._changing:
            left = [one for one in self._waiting if one.shard.name != shard or one in ranges]
            self._waiting = [*left, *(one for one in ranges if one not in left)]


class RangeParser:
    """Parses ranges into the store. `unwritable` says why that cannot be written, and is then what becomes of every range."""

    def __init__(self, store: Store, reading: ReadOptions, unwritable: str) -> None:
        self._store, self.reading, self._unwritable = store, reading, unwritable
        self.under_way: dict[str, int] = {}
        """By shard how many bytes have been read of a range that is not finished."""

    @contextmanager
    def parsing(
        self, work: WorkQueue, tick: Callable[[], None], *, only_helpers: bool = False
    ) -> Iterator[Iterator[tuple[ByteRange, Outcome]]]:
        """What becomes of each range, as it comes; `tick` is called while waiting for processes, which are gone when the context ends.

        `only_helpers` leaves this process free for its other threads while helper processes parse.
        """
        if self._unwritable or is_small(work):
            yield ((one, self._here(one)) for one in iter(work.take, None))
            return
        works = [self._by_process] * min(len(work), processors())
        if not only_helpers and any(shards.is_plain(one.shard) for one in work.waiting()):
            works[0] = self._here_if_plain
        with Helpers("board.runs.parsing.worker", work.take, works) as helpers:
            yield helpers.results(tick)

    def _here(self, byte_range: ByteRange) -> Outcome:
        if self._unwritable:
            return OSError(self._unwritable)
        try:
            return parse(byte_range, self.reading, self._store.write)
        except (RunNotFound, OSError) as error:
            return error

    def _here_if_plain(self, byte_range: ByteRange, ask: Ask) -> Outcome:
        """A compressed shard is one long byte range and always goes to a process, which can be ended at any time."""
        return self._here(byte_range) if shards.is_plain(byte_range.shard) else self._by_process(byte_range, ask)

    def _by_process(self, byte_range: ByteRange, ask: Ask) -> Outcome:
        def tell(count: float) -> None:
            self.under_way[byte_range.shard.name] = int(count)

        try:
            answer = ask(worker.order_for(self._store, self.reading, byte_range), tell)
        except OSError as error:
            return OSError(f"a helper process ended: {error}")
        if "piece" in answer:
            return piece_from(answer["piece"])
        return RunNotFound(answer["refused"]) if "refused" in answer else OSError(answer["failed"])


def is_small(work: WorkQueue) -> bool:
    """Whether the ranges are parsed sooner here than with the help of processes."""
    return sum(map(expected_bytes, work.waiting())) <= SMALL_BYTES


def expected_bytes(byte_range: ByteRange) -> int:
    """Bytes of rollouts in a byte range; a guess when the shard is compressed."""
    return (byte_range.stop - byte_range.start) * (1 if shards.is_plain(byte_range.shard) else _COMPRESSION)
