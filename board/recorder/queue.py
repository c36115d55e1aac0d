"""Where rows wait for the disk. Knows nothing of what becomes of them.

Locks are re-entrant, so that a signal handler may close the recorder whatever it interrupts.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from board.recorder.values import weigh

Row = dict[str, Any]


class RowQueue:
    """Hands rows and other work to one thread at a time, in the order they came: the caller's own, or one that a waiting room is before.

    The executor is Python's: it starts its thread at the first row, and finishes what was put before the interpreter ends.
    """

    def __init__(self, write: Callable[[Row], None], limit: int | None) -> None:
        """The waiting room has `limit` bytes, which the last row in may exceed; None for the caller's thread."""
        self._write = write
        self._limit = limit
        self._waiting = 0
        self._room, self._turn = threading.RLock(), threading.RLock()
        self._executor = None if limit is None else ThreadPoolExecutor(1, thread_name_prefix="rollout-recorder")

    def put(self, rows: Sequence[Row]) -> int:
        """Hand rows on; returns how many there was no room for."""
        if self._limit is None:
            for row in rows:
                with self._turn:
                    self._write(row)
            return 0
        accepted = [(row, weight) for row in rows if self._reserve(weight := sum(map(weigh, row.values())))]
        if accepted:
            self.run(lambda: self._write_all(accepted))
        return len(rows) - len(accepted)

    def run(self, work: Callable[[], None]) -> Future[None]:
        """Do something after everything that was put before."""
        if self._executor is not None:
            with suppress(RuntimeError):  # the interpreter is ending: everything put before is finished, and no thread may start
                return self._executor.submit(work)
        with self._turn:
            work()
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def close(self) -> None:
        """Finish everything that was put, and end the thread."""
        if self._executor is not None:
            self._executor.shutdown()

    def _reserve(self, weight: int) -> bool:
        with self._room:
            room = self._limit is None or self._waiting < self._limit
            self._waiting += weight if room else 0
        return room

    def _write_all(self, weighed: Sequence[tuple[Row, int]]) -> None:
        for row, weight in weighed:
            with (
                suppress(KeyboardInterrupt),
                self._turn,
            ):  # a hook's own, which is counted; a reader's Ctrl+C comes to the main thread
                self._write(row)
            with self._room:
                self._waiting -= weight
