"""Engines that parse the sources of an index: local processes, or a Ray cluster.

Both call `board.cli.indexing.source_writer.answer`. A worker that ends costs the source it had, which is given out again.
"""

import json
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Final, Protocol

from board.cli.indexing import source_writer
from board.errors import ArgumentRefused
from board.runs.child_process import ChildEnded, ChildProcess, Tell, processors

Order = dict[str, Any]
Answer = Callable[[Order, Tell], dict[str, Any]]

TRIES: Final = 3
"""So often an order is given to a worker that ends before it counts as failed."""

WORKER: Final = source_writer.__name__
"""The module of a process of this machine."""

_POLL_SECONDS: Final = 0.2
_AHEAD: Final = 2
"""Orders given to a cluster for each processor: one that is worked on, one that waits."""


class Engine(Protocol):
    """Takes orders and gives what became of each, once, in any order."""

    def answers(self, orders: Sequence[Order], tick: Callable[[int], None]) -> Iterator[tuple[Order, dict[str, Any]]]:
        """What becomes of each order, as it comes; `tick` is called while waiting, with the bytes that are read of those under way."""


class LocalEngine:
    """So many processes at a time, by default one for each processor."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or processors()

    def answers(self, orders: Sequence[Order], tick: Callable[[int], None]) -> Iterator[tuple[Order, dict[str, Any]]]:
        """As an engine does."""
        read = defaultdict[int, int](int)
        own, started = threading.local(), list[ChildProcess]()

        def answer(order: Order) -> dict[str, Any]:
            said: dict[str, Any] = {}
            for _ in range(TRIES):
                try:
                    if getattr(own, "process", None) is None:
                        own.process = ChildProcess(WORKER)
                        started.append(own.process)
                    return dict(own.process.ask(order, tell=partial(read.__setitem__, order["number"])))
                except ChildEnded as error:
                    own.process, said = None, {"failed": f"a parsing process ended: {error}"}
                except OSError as error:
                    return {"failed": str(error)}
            return said

        pool = ThreadPoolExecutor(self._workers)
        try:
            under_way = {pool.submit(answer, order): order for order in orders}
            while under_way:
                done, _ = wait(under_way, _POLL_SECONDS, FIRST_COMPLETED)
                yield from ((under_way.pop(one), one.result()) for one in done)
                if not done:
                    tick(sum(read[order["number"]] for order in under_way.values()))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in started:
                process.kill()
            pool.shutdown()
            for process in started:
                process.close()


class RayEngine:
    """A cluster at an address, as `ray.init` takes it; without one Ray starts on this machine, unless this process is in a cluster already.

    Every machine must have this board installed, and see run and index under the same paths where these are folders.
    """

    def __init__(self, address: str | None = None, answer: Answer = source_writer.answer) -> None:
        """`answer` is what a task does with its order."""
        self._address, self._answer = address, answer

    def answers(self, orders: Sequence[Order], tick: Callable[[int], None]) -> Iterator[tuple[Order, dict[str, Any]]]:
        """As an engine does; of what a cluster is at work on nothing is known before it is done."""
        import ray

        self._connect()
        remote = ray.remote(num_cpus=1, max_retries=TRIES - 1)(_answered)
        waiting, under_way = [*reversed(orders)], dict[Any, Order]()
        try:
            while waiting or under_way:
                processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
                while waiting and len(under_way) < _AHEAD * processors:
                    order = waiting.pop()
                    under_way[remote.remote(self._answer, json.dumps(order, default=str))] = order
                done, _ = ray.wait([*under_way], timeout=_POLL_SECONDS)
                for reference in done:
                    yield under_way.pop(reference), _got(reference)
                if not done:
                    tick(0)
        finally:
            for reference in under_way:
                ray.cancel(reference, force=True)

    def _connect(self) -> None:
        import ray

        if ray.is_initialized():
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no report to Ray's makers that this machine has a board
        try:
            ray.init(address=self._address, log_to_driver=False, include_dashboard=None if self._address else False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ArgumentRefused(f"There is no Ray cluster at {self._address or 'this machine'}: {error}") from error


def _got(reference: Any) -> dict[str, Any]:
    import ray

    try:
        found: dict[str, Any] = json.loads(ray.get(reference))
    except ray.exceptions.RayError as error:
        return {"failed": f"a worker ended: {str(error).splitlines()[0]}"}
    return found


def _answered(answer: Answer, order: str) -> str:
    """In a worker."""
    return json.dumps(answer(json.loads(order), lambda _: None))
