"""Tasks of an index on a Ray cluster, each a few byte ranges; what travels is JSON, the parts go straight into the index.

Every machine must see the run and the index under the same paths, and have this board installed. Knows no run.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from board.errors import ArgumentRefused
from board.indexing import range_task
from board.indexing.engine import FinishedTask
from board.indexing.range_task import RangeTask, Site
from board.runs import parsed_shard, worker_pool
from board.runs.range_parsing import expected_bytes
from board.system.child_process import Tell

Answer = Callable[[dict[str, Any], Tell], dict[str, Any]]

_POLL_SECONDS: Final = 0.2

_AHEAD: Final = 2
"""Batches given out for each processor: one that is worked on, one that waits beside it."""

_MOST_RANGES: Final = 64
"""In a batch."""


class RayEngine:
    """A cluster at an address, as `ray.init` takes it; without one Ray starts on this machine, unless this process is in a cluster already."""

    def __init__(self, address: str | None = None, answer: Answer = range_task.answer) -> None:
        """`answer` is what a task does with each of its orders."""
        self._address, self._answer = address, answer
        self._failed: set[tuple[str, int]] = set()
        """Ranges that ended a worker, or were in a batch with one that did: each goes alone from then on."""

    def outcomes(self, tasks: Sequence[RangeTask], site: Site, tick: Callable[[], None]) -> Iterator[FinishedTask]:
        """As an engine does."""
        import ray

        self._connect()
        # what failed is tried again by whoever asked, alone: Ray would try whole batches again
        remote = ray.remote(num_cpus=1, max_retries=0)(answers)
        waiting = [*reversed(self._batches(tasks))]
        under_way: dict[Any, tuple[list[RangeTask], float]] = {}
        try:
            while waiting or under_way:
                while waiting and len(under_way) < _AHEAD * _processors():
                    batch = waiting.pop()
                    orders = json.dumps([site.order(task) for task in batch], default=str)
                    under_way[remote.remote(self._answer, orders)] = (batch, time.monotonic())
                done, _ = ray.wait([*under_way], timeout=_POLL_SECONDS)
                for reference in done:
                    yield from self._finished(reference, *under_way.pop(reference))
                if not done:
                    tick()
        finally:
            for reference in under_way:
                ray.cancel(reference, force=True)

    def _connect(self) -> None:
        import ray

        if ray.is_initialized():
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told that this machine has a board
        try:
            ray.init(address=self._address, log_to_driver=False, include_dashboard=None if self._address else False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ArgumentRefused(f"There is no Ray cluster at {self._address or 'this machine'}: {error}") from error

    def _batches(self, tasks: Sequence[RangeTask]) -> list[list[RangeTask]]:
        """The tasks in their order, small ones together."""
        batches: list[list[RangeTask]] = []
        room = 0
        for task in tasks:
            size, alone = expected_bytes(task.byte_range), _place(task) in self._failed
            if not batches or alone or size > room or len(batches[-1]) >= _MOST_RANGES:
                batches.append([])
                room = 0 if alone else parsed_shard.RANGE_BYTES
            batches[-1].append(task)
            room -= size
        return batches

    def _finished(self, reference: Any, batch: list[RangeTask], began: float) -> Iterator[FinishedTask]:
        import ray

        try:
            answered = json.loads(ray.get(reference))
        except ray.exceptions.RayError as error:
            self._failed |= {_place(task) for task in batch}
            reason = OSError(f"a worker ended: {str(error).splitlines()[0]}")
            shared = (time.monotonic() - began) / len(batch)
            yield from (FinishedTask(task, reason, shared) for task in batch)
            return
        for task, one in zip(batch, answered, strict=True):
            yield FinishedTask(task, worker_pool.outcome_of(one), one["seconds"])


def answers(answer: Answer, orders: str) -> str:
    """In a worker: what becomes of each order, a list in JSON each."""
    found = []
    for order in json.loads(orders):
        began = time.monotonic()
        found.append({**answer(order, _heard_by_nobody), "seconds": time.monotonic() - began})
    return json.dumps(found, default=str)


def _heard_by_nobody(_count: float) -> None:
    pass


def _processors() -> int:
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _place(task: RangeTask) -> tuple[str, int]:
    return task.byte_range.shard.name, task.byte_range.start
