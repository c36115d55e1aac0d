"""Have byte ranges parsed and stored: here if they are small, else in processes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from board.errors import RunNotFound
from board.runs import child_process
from board.runs.cache.store import Store
from board.runs.parsing import worker, worker_pool
from board.runs.parsing.byte_range import ByteRange, parse
from board.runs.parsing.work_queue import WorkQueue
from board.runs.parsing.worker_pool import Outcome
from board.runs.read_options import ReadOptions
from board.sources import shards

SMALL_BYTES: Final = 64_000_000
"""Less than this is parsed sooner here than with the help of processes that must start first."""

_COMPRESSION: Final = 6
"""How many bytes of rollouts a byte of a compressed shard is taken for."""


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
        count = min(len(work), child_process.processors())
        here = None if only_helpers or not any(shards.is_plain(one.shard) for one in work.waiting()) else self._here
        order = partial(worker.order_for, self._store, self.reading)
        with worker_pool.helpers(count, order, here, self.under_way) as helpers:
            yield worker_pool.outcomes(helpers, work, tick)

    def _here(self, byte_range: ByteRange) -> Outcome:
        if self._unwritable:
            return OSError(self._unwritable)
        try:
            return parse(byte_range, self.reading, self._store.write)
        except (RunNotFound, OSError) as error:
            return error


def is_small(work: WorkQueue) -> bool:
    """Whether the ranges are parsed sooner here than with the help of processes."""
    return sum(map(expected_bytes, work.waiting())) <= SMALL_BYTES


def expected_bytes(byte_range: ByteRange) -> int:
    """Bytes of rollouts in a byte range; a guess when the shard is compressed."""
    return (byte_range.stop - byte_range.start) * (1 if shards.is_plain(byte_range.shard) else _COMPRESSION)
