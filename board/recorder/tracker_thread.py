"""A thread of its own between the recorder and a tracker, which may be slow, fail, hang or not be there. Knows no metric and no row."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

from board.recorder.losses import FAILURES, Losses, described
from board.trackers.contract import TrackerWriter

LIMIT: Final = 1_000
"""Steps that may wait for the tracker."""

ATTEMPTS: Final = 3
"""How often opening the tracker is tried: at once, then when something is to be handed over."""

OPENING_SECONDS: Final = 5.0
"""So long does closing wait for a tracker that was not opened in all the time of training: it refuses the log-in, or is not reached."""

Message = Callable[[TrackerWriter], None]
"""One call of the tracker."""


class Channel:
    """Hands messages to a tracker in their order. No method waits, but `close` for as long as it is told; none raises.

    What the tracker did not take is counted. The thread is a daemon: a tracker that hangs holds up nobody's end.
    """

    def __init__(self, open_writer: Callable[[], TrackerWriter], losses: Losses) -> None:
        self._open = open_writer
        self._losses = losses
        self._queue: SimpleQueue[Message | None] = SimpleQueue()
        self._attempts = 0
        self._writer: TrackerWriter | None = None
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=self._work, name="rollout-tracker", daemon=True)

    def begin(self) -> None:
        """Start the thread, unless it has begun: in time, as none may start while the interpreter ends."""
        if self._thread.ident is None:
            self._thread.start()

    def put(self, message: Message) -> None:
        """Let a message wait for the tracker; it is dropped and counted where too many wait."""
        self.begin()
        if self._queue.qsize() >= LIMIT:
            self._losses.add("tracker_queue")
        else:
            self._queue.put(message)

    def close(self, seconds: float) -> None:
        """Hand over what waits and close the tracker, within so many seconds; what is still waiting then is lost and counted.

        A tracker that is not open gets OPENING_SECONDS of them.
        """
        if self._thread.ident is None:
            return
        self._queue.put(None)
        waited = min(seconds, OPENING_SECONDS)
        self._thread.join(waited)
        if self._writer is not None:
            self._thread.join(seconds - waited)
            waited = seconds
        if self._thread.is_alive():
            self._given_up.set()
            self._losses.add("tracker", f"it did not end within {waited:g} s", max(1, self._queue.qsize() - 1))

    def _work(self) -> None:
        self._guarded(self._try_to_open, count=0)  # at once: what is missing is said at the first row, not after the first step
        while (message := self._queue.get()) is not None and not self._given_up.is_set():
            self._hand_on(message)
        if self._writer is not None:
            self._guarded(self._writer.close, count=0)

    def _hand_on(self, message: Message) -> None:
        if self._writer is None:
            self._guarded(self._try_to_open, count=0)
        if self._writer is None:
            self._losses.add("tracker")
        else:
            writer = self._writer
            self._guarded(lambda: message(writer))

    def _try_to_open(self) -> None:
        if self._attempts < ATTEMPTS:
            self._attempts += 1
            self._writer = self._open()

    def _guarded(self, work: Callable[[], None], count: int = 1) -> None:
        """Do what may fail in any way; a failure is a loss of so many messages. SystemExit too: a library may want to end the process."""
        try:
            work()
        except FAILURES as error:  # the boundary to a tracker's library
            if not self._given_up.is_set():
                self._losses.add("tracker", described(error), count)
