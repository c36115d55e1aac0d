"""Threads that fetch: a bounded number, which end when they are told to, or with the process, and are not waited for then.

Knows nothing of what they fetch.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Final

AT_ONCE: Final = 16
"""Requests under way at a time."""

_Job = tuple[Callable[[], Any], "Future[Any]"]


class FetchThreads:
    """Begun when there is something to do, as many as that takes."""

    def __init__(self, most: int = AT_ONCE) -> None:
        self._most = most
        self._waiting: SimpleQueue[_Job | None] = SimpleQueue()
        self._changing = threading.Lock()
        self._begun, self._idle = 0, 0

    def submit(self, job: Callable[[], Any]) -> "Future[Any]":
        """To be done when a thread is free, in turn; the future holds what it gave or raised."""
        future: Future[Any] = Future()
        with self._changing:
            if not self._idle and self._begun < self._most:
                self._begun += 1
                threading.Thread(target=self._serve, name="fetching", daemon=True).start()
        self._waiting.put((job, future))
        return future

    def end(self) -> None:
        """Let them end, once what was submitted is done. Nothing is submitted any more."""
        with self._changing:
            for _ in range(self._begun):
                self._waiting.put(None)

    def _serve(self) -> None:
        while True:
            with self._changing:
                self._idle += 1
            waited = self._waiting.get()
            with self._changing:
                self._idle -= 1
            if waited is None:
                return
            job, future = waited
            try:
                future.set_result(job())
            except BaseException as error:  # noqa: BLE001 - raised where the answer is taken
                future.set_exception(error)
