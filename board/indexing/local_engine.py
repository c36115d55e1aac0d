"""Tasks of an index on this machine: here when they are small, else by the processes that the cache is filled by, too. Knows no run."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from board.indexing import range_task
from board.indexing.engine import FinishedTask
from board.indexing.range_task import RangeTask, Site
from board.runs import range_parsing, worker_pool
from board.runs.byte_range import ByteRange
from board.runs.work_queue import WorkQueue
from board.system import processors


class LocalEngine:
    """So many processes at a time; as many as there are processors unless told."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or processors.count()

    def outcomes(self, tasks: Sequence[RangeTask], site: Site, tick: Callable[[], None]) -> Iterator[FinishedTask]:
        """As an engine does."""
        work = WorkQueue(task.byte_range for task in tasks)
        if range_parsing.is_small(work):
            for task in tasks:
                began = time.monotonic()
                found = range_task.answer(site.order(task), lambda _: None)
                yield FinishedTask(task, worker_pool.outcome_of(found), time.monotonic() - began)
            return
        by_place = {_place(task.byte_range): task for task in tasks}
        began_at: dict[tuple[str, int], float] = {}

        def order(byte_range: ByteRange) -> dict[str, Any]:
            began_at[_place(byte_range)] = time.monotonic()
            return site.order(by_place[_place(byte_range)])

        count = min(len(tasks), self._workers)
        with worker_pool.helpers(count, order, None, {}, "board.indexing.worker") as helpers:
            for byte_range, outcome in worker_pool.outcomes(helpers, work, tick):
                place = _place(byte_range)
                seconds = time.monotonic() - began_at.get(place, time.monotonic())
                yield FinishedTask(by_place[place], outcome, seconds)


def _place(byte_range: ByteRange) -> tuple[str, int]:
    return byte_range.shard.name, byte_range.start
