"""Where work waits for the disk. Knows nothing of rows, nor of what becomes of them.

Locks are re-entrant, so that a signal handler may close the recorder whatever it interrupts.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

Work = Callable[[], object]


class WriteQueue:
    """Has one piece of work done after another: in the caller's thread, or in one that a waiting room is before.

    The executor is Python's: it starts its thread at the first piece, and finishes what was put before the interpreter ends.
    """

    def __init__(self, limit: int | None) -> None:
        """The waiting room has `limit` bytes, which the last piece in may exceed; None for the caller's thread."""
        self._limit = limit
        self._waiting = 0
        self._room, self._turn = threading.RLock(), threading.RLock()
        self._executor = None if limit is None else ThreadPoolExecutor(1, thread_name_prefix="rollout-recorder")

    def put(self, work: Work, weight: int = 0) -> bool:
        """Have something done after all that was put before; False where it weighs something and there is no room for it."""
        if self._executor is not None and self._limit is not None:
            with self._room:
                if weight and self._waiting >= self._limit:
                    return False
                self._waiting += weight
            with suppress(RuntimeError):  # the interpreter is ending: everything put before is finished, and no thread may start
                self._executor.submit(self._done, work, weight)
                return True
        with self._turn:
            work()
        return True

    def close(self) -> None:
        """Finish everything that was put, and end the thread."""
        if self._executor is not None:
            self._executor.shutdown()

    def _done(self, work: Work, weight: int) -> None:
        with (
            suppress(KeyboardInterrupt),
            self._turn,
        ):  # a hook's own, which is counted; a reader's Ctrl+C comes to the main thread
            work()
        with self._room:
            self._waiting -= weight
