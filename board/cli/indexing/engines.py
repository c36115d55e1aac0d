"""Engines that parse the sources of an index: local processes, or a Ray cluster.

Both call `board.cli.indexing.source_writer.answer`. A worker that ends costs the source it had, which is given out again.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

from board.cli.indexing import source_writer
from board.errors import ArgumentRefused
from board.runs.child_process import Ask, ChildEnded, Helpers, Tell, processors

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
        read = dict[int, int]()
        waiting = iter(orders)
        taking = threading.Lock()

        def take() -> Order | None:
            with taking:
                return next(waiting, None)

        def answer(order: Order, ask: Ask) -> dict[str, Any]:
            number, said = order["number"], dict[str, Any]()
            for _ in range(TRIES):
                try:
                    said = ask(order, lambda count: read.update({number: int(count)}))
                    break
                except ChildEnded as error:
                    said = {"failed": f"a parsing process ended: {error}"}
                except OSError as error:
                    said = {"failed": str(error)}
                    break
            read.pop(number, None)
            return said

        with Helpers(WORKER, take, [answer] * self._workers) as helpers:
            yield from helpers.results(lambda: tick(sum(read.copy().values())))


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
