"""Rows that wait to be written, in a thread of their own; where too many wait, a row is lost rather than training held up."""

import threading
from collections import deque
from collections.abc import Callable

from board.recorder.loss_counts import Losses, described

Work = Callable[[], object]


class WriteQueue:
    """Does one piece of work after another, in a thread that begins when there is work and ends when there is none.

    So the interpreter ends when all is done, and a caller that cannot wait for the thread does what is left. Locks are re-entrant, so that a
    signal handler may do so, too, whatever it interrupts.
    """

    def __init__(self, limit: float, losses: Losses) -> None:
        """What waits may weigh so much, which the last piece in may exceed."""
        self._limit, self._losses = limit, losses
        self._pieces: deque[tuple[Work, int]] = deque()
        self._taken = self._done = 0
        self._works = False
        self._room, self._turn = threading.RLock(), threading.RLock()

    def put(self, work: Work, weight: int = 0) -> None:
        """Have something done after all that was put before. What weighs something is a row: lost where there is no room, or where it fails."""
        with self._room:
            if weight and self._taken - self._done >= self._limit:
                self._losses.add("queue")
                return
            self._taken += weight
            self._pieces.append((work, weight))
            begins, self._works = not self._works, True
        if begins:
            try:
                threading.Thread(target=self._work, name="rollout-recorder").start()
            except RuntimeError:  # the interpreter is ending, and no thread may start
                self._work()

    def finish(self) -> None:
        """Return when everything that was put is done: by the thread, or here where that has none of it in hand."""
        with self._turn:
            while self._pieces:
                work, weight = self._pieces.popleft()
                try:
                    work()
                except BaseException as error:  # noqa: BLE001 - the boundary to training: its values may fail in any way
                    self._losses.add("row", described(error), bool(weight))
                self._done += weight  # without a lock that a thread waiting for this turn may hold

    def _work(self) -> None:
        while True:
            self.finish()
            with self._room:
                if not self._pieces:
                    self._works = False
                    return
