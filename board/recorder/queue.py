"""Where rows wait for the disk. Knows nothing of what becomes of them.

Locks are re-entrant, so that a signal handler may close the recorder whatever it interrupts.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Protocol

from board.recorder.snapshot import weigh

Row = dict[str, Any]


class RowQueue(Protocol):
    """Hands rows and other work to one thread at a time, in the order they came."""

    def put(self, rows: Sequence[Row]) -> int:
        """Hand rows on; returns how many there was no room for."""

    def run(self, work: Callable[[], None]) -> Future[None]:
        """Do something after everything that was put before."""

    def close(self) -> None:
        """Finish everything that was put."""


class Direct:
    """No waiting room: the caller does the work itself, one caller at a time."""

    def __init__(self, write: Callable[[Row], None]) -> None:
        self._write = write
        self._turn = threading.RLock()

    def put(self, rows: Sequence[Row]) -> int:
        """Write the rows before returning."""
        for row in rows:
            with self._turn:
                self._write(row)
        return 0

    def run(self, work: Callable[[], None]) -> Future[None]:
        """Do it before returning."""
        with self._turn:
            work()
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def close(self) -> None:
        """Nothing waits."""


class Background:
    """A thread of its own, and a waiting room of `limit` bytes, which the last row in may exceed.

    The executor is Python's: it starts its thread at the first row, and finishes what was put before the interpreter ends.
    """

    def __init__(self, write: Callable[[Row], None], limit: int) -> None:
        self._direct = Direct(write)
        self._limit = limit
        self._waiting = 0
        self._room = threading.RLock()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="rollout-recorder")

    def put(self, rows: Sequence[Row]) -> int:
        """Let the rows wait, as far as there is room."""
        weighed = ((row, sum(map(weigh, row.values()))) for row in rows)
        accepted = [(row, weight) for row, weight in weighed if self._reserve(weight)]
        if accepted:
            self.run(lambda: self._write_all(accepted))
        return len(rows) - len(accepted)

    def run(self, work: Callable[[], None]) -> Future[None]:
        """Let it wait behind the rows."""
        try:
            return self._executor.submit(work)
        except RuntimeError:  # the interpreter is ending: everything put before is finished, and no thread may start
            return self._direct.run(work)

    def close(self) -> None:
        """Finish what waits and end the thread."""
        self._executor.shutdown()

    def _reserve(self, weight: int) -> bool:
        with self._room:
            room = self._waiting < self._limit
            self._waiting += weight if room else 0
        return room

    def _write_all(self, weighed: list[tuple[Row, int]]) -> None:
        for row, weight in weighed:
            with suppress(KeyboardInterrupt):  # a hook's own, which is counted; a reader's Ctrl+C comes to the main thread
                self._direct.put([row])
            with self._room:
                self._waiting -= weight
