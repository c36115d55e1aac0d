"""A load in a thread of its own, which publishes what is read so far as a run.

It does so now and then, and the whole at last. What a reader looks at is read first.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from board.errors import BoardError
from board.runs.loading.prefetcher import Prefetcher, ReadPriority
from board.runs.loading.snapshot import Snapshot
from board.runs.opening import Opening
from board.runs.progress import Progress
from board.runs.run import Run

FIRST_SECONDS: Final = 1.0
"""What is not read whole by then is published in part."""

LEAST_SECONDS: Final = 2.0
"""Between two snapshots: each is drawn anew on every screen that shows the run."""

GROWTH: Final = 0.5
"""A snapshot comes when the load has gone on for so much longer than at the last one: a late one adds little to what there is."""

COST: Final = 0.04
"""The share of a load that making snapshots may take."""

UNWATCHED_SECONDS: Final = 10.0
"""A load that no reader has looked at for so long counts as unwatched."""

_LOOK_SECONDS: Final = 0.1

_TICK_SECONDS: Final = 0.01


class _Stopped(Exception):
    """Somebody stopped the load."""


class BackgroundLoad:
    """One load of one run. `arguments` are those of `open_run` but for `progress`.

    `publish` is called with each run, and `ended` when nothing more comes, in the load's thread.
    """

    def __init__(
        self,
        arguments: dict[str, Any],
        publish: Callable[[Run], None],
        ended: Callable[[], None],
        priority: ReadPriority | None = None,
    ) -> None:
        self._arguments, self._publish, self._on_end = arguments, publish, ended
        self._prefetcher = Prefetcher(priority)
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._started = time.monotonic()
        self._next_at = self._started + FIRST_SECONDS
        self.progress: Progress | None = None
        """How far it is; None while the shards are looked for."""
        self.run: Run | None = None
        """What was published last."""
        self.error: Exception | None = None
        """Why there will be no run."""
        self.ended = False
        self._watched_at = time.monotonic()
        self._thread = threading.Thread(target=self._work, name="loading", daemon=True)

    def begin(self) -> None:
        """Start to read."""
        self._thread.start()

    def watch(self) -> None:
        """Somebody looks at it."""
        self._watched_at = time.monotonic()

    def is_unwatched(self) -> bool:
        """Whether no reader has looked at it for a while."""
        return time.monotonic() - self._watched_at > UNWATCHED_SECONDS

    def first(self, progress: Callable[[Progress], None] | None = None) -> Run:
        """The run as far as it is read, or whole where that takes no longer. Waits for the first row; `progress` is called while waiting.

        Raises what `open_run` raises.
        """
        while not self._is_readable():
            self.watch()
            with self._changed:
                self._changed.wait_for(self._is_readable, _LOOK_SECONDS)
            if progress and self.progress:  # a reader who stays in there holds up no one else
                progress(self.progress)
        if self.run is None:
            raise self.error or RuntimeError("the load ended without a run")
        return self.run

    def _is_readable(self) -> bool:
        return self.ended or (self.run is not None and not self.run.frame.empty)

    def stop(self) -> None:
        """Read no further: what is parsed is stored and published once more."""
        self._stopping.set()

    def wait(self) -> None:
        """Until nothing more comes."""
        self._thread.join()

    def prefer(self, priority: ReadPriority) -> None:
        """Read next what a reader looks at."""
        self._prefetcher.prioritise(priority)

    def _work(self) -> None:
        try:
            self._load()
        except BoardError as error:
            self._fail(error)
        except Exception as error:
            self._fail(error)
            raise  # it is a fault of ours: the server's log gets the traceback
        finally:
            self._prefetcher.end()
            self._on_end()
            with self._changed:
                self.ended = True
                self._changed.notify_all()

    def _fail(self, error: Exception) -> None:
        """What is read stays readable, and says why it is no more."""
        self.error = error
        if self.run is not None and self.run.reading is not None:
            self._show(replace(self.run, reading=replace(self.run.reading, stopped=True, trouble=str(error))))

    def _load(self) -> None:
        opening = Opening(**self._arguments, progress=lambda progress: self._note_progress(opening, progress))
        self._snapshot = Snapshot(opening.loader)
        work = opening.loader.missing()
        self._prefetcher.begin(work, self._snapshot, opening.loader.reading)
        try:
            while self._prefetcher.is_first() and time.monotonic() - self._started < FIRST_SECONDS:
                time.sleep(_TICK_SECONDS)
            self._note_progress(opening, opening.progress(*opening.loader.done()))
            with opening.loader.loading(work, only_helpers=True):
                pass  # a reader who is shown the whole run may reload it at once: by then the load is over
        except _Stopped:
            self._publish_part(opening, stopped=True)
            return
        self._prefetcher.end()
        if opening.loader.beyond():
            self._snapshot.samples = self._prefetcher.linked  # the other stretches are in none of the ranges of the sample
        self._show(opening.whole(self._snapshot))

    def _note_progress(self, opening: Opening, progress: Progress) -> None:
        """To be called again and again while the load goes on: publishes a snapshot where it is time. Raises _Stopped."""
        self.progress = progress
        if self._stopping.is_set():
            raise _Stopped
        now = time.monotonic()
        due = now >= self._next_at and progress.rows and progress.share < 1.0  # what is all read is published whole
        if self._prefetcher.has_news() or due:
            self._publish_part(opening)
            took = time.monotonic() - now
            self._next_at = time.monotonic() + max(LEAST_SECONDS, GROWTH * (now - self._started), took / COST)

    def _publish_part(self, opening: Opening, *, stopped: bool = False) -> None:
        progress = self.progress or opening.progress(*opening.loader.done())
        self._show(opening.part_of_it(self._snapshot, progress, stopped=stopped))

    def _show(self, run: Run) -> None:
        self._publish(run)
        with self._changed:
            self.run = run
            self._changed.notify_all()
