"""Where work waits for the disk, and the thread that does it. Knows nothing of rows, nor of what becomes of them."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from board.recorder.losses import Losses, described

Work = Callable[[], object]


class WriteQueue:
    """Does one piece of work after another, in a thread of its own. Those who put work take turns.

    The executor is Python's: it starts its thread at the first piece, and finishes what was put before the interpreter ends.
    """

    def __init__(self, limit: float, losses: Losses) -> None:
        """What waits may weigh so much, which the last piece in may exceed."""
        self._limit, self._losses = limit, losses
        self._taken = self._done = 0
        self._turn = threading.RLock()
        self._executor = ThreadPoolExecutor(1, "rollout-recorder")

    def put(self, work: Work, weight: int = 0) -> None:
        """Have something done after all that was put before. What weighs something is a row: lost where there is no room, or where it fails."""
        if weight and self._taken - self._done >= self._limit:
            self._losses.add("queue")
            return
        self._taken += weight
        try:
            self._executor.submit(self._do, work, weight)
        except RuntimeError:  # the interpreter is ending: everything put before is finished, and no thread may start
            self._do(work, weight)

    def close(self, last: Work) -> None:
        """Finish everything that was put, then something last."""
        self.put(last)
        self._executor.shutdown()

    def _do(self, work: Work, weight: int) -> None:
        with self._turn:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - the boundary to training: its values may fail in any way
                self._losses.add("row", described(error), bool(weight))
            self._done += weight
