"""What a recorder sends to a tracker: at each step's end its numbers, those of its rows and those the trainer gives, together.

The numbers of rows are computed by the code of `push`, which needs all that the board needs: it is imported here alone, once a tracker
is named. That is done, and the tracker called, which may be slow, fail, hang or not be there, in a thread of its own.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from board import trackers
from board.metrics import OWN_PREFIX
from board.metrics.declared import DIALECTS
from board.push.recorder_numbers import RecordedSteps
from board.recorder.loss_counts import FAILURES, Losses, described
from board.recorder.values import Parts, line, whole
from board.trackers.contract import TrackerWriter, Value


class Tracking:
    """The steps of one process, on their way to a tracker. Called by one thread; never waits for the tracker and never raises.

    A step's numbers leave together, in rising order of steps, as some trackers refuse to go back: once rows or numbers of a later
    step come, or the trainer says that the step has ended.
    """

    def __init__(
        self,
        run: str,
        losses: Losses,
        *,
        tracker: str,
        kwargs: Mapping[str, Any],
        names: str,
        limit: int,
        seconds: float,
        **how: Any,
    ) -> None:
        """Rows that wait for the tracker may take `limit` bytes; closing waits so many seconds for it at most.

        `how` rows are computed is said to `RecordedSteps`. The tracker's library is looked for once it is needed. Raises ValueError for a
        tracker or names that are unknown.
        """
        if tracker not in trackers.OPTIONS:
            raise ValueError(f"track_with is one of {', '.join(trackers.OPTIONS)}, not {tracker!r}.")
        if names not in DIALECTS:
            raise ValueError(f"names is one of {', '.join(DIALECTS)}, not {names!r}.")
        self._opening = partial(trackers.tracker(tracker).open_writer, run, **kwargs)
        self._steps, self._losses, self._limit, self._seconds = RecordedSteps(names, **how), losses, limit, seconds
        self._taken = self._done = 0
        self._queue: SimpleQueue[tuple[Callable[[], object], int] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="rollout-tracker", daemon=True)  # one that hangs delays no exit
        self._thread.start()
        self._sent: float = -math.inf
        self._rows: defaultdict[int, list[bytes]] = defaultdict(list)
        self._given: defaultdict[int, dict[str, Value]] = defaultdict(dict)

    def row(self, step: int, row: Parts) -> None:
        """Take in a rollout. One of a later step ends those before; one of a step that has ended comes too late."""
        if step <= self._sent:
            self._losses.add("tracker_late")
            return
        self._send(below=step)
        self._rows[step].append(line(row)[:-1])

    def given(self, step: object, values: Mapping[str, Any]) -> None:
        """Take in numbers, truth values (as 1 and 0) and texts of the trainer's own."""
        for name, value in values.items():
            try:
                self._given[whole(step)][name] = value if isinstance(value, str) else _finite(value)
            except FAILURES as error:  # the boundary to training: a value may be any object, and fail in any way
                self._losses.add("tracker_value", f"{name!r}: {described(error)}")
        if self._given and not self._rows:
            self._send(below=max(self._given))

    def end_step(self) -> None:
        """Hand on the numbers of the step that was being written, and what the trainer gave up to it."""
        if self._rows:
            self._send(below=max(self._rows) + 1)

    def close(self) -> None:
        """Hand on all there is, what comes once at the end last, and close the tracker within the time it has."""
        self._send()
        self._queue.put((self._end, 0))
        self._queue.put(None)
        self._thread.join(self._seconds)
        if self._thread.is_alive():
            self._losses.add("tracker", f"it did not end within {self._seconds:g} s", max(1, self._queue.qsize() - 1))

    def _send(self, below: float = math.inf) -> None:
        """Hand on what there is of steps below one, in their order, where there is room for it."""
        for step in sorted(step for step in self._rows.keys() | self._given.keys() if step < below):
            self._sent = max(self._sent, step)
            rows, own = self._rows.pop(step, []), self._given.pop(step, {})
            if self._taken - self._done >= self._limit:
                self._losses.add("tracker_queue")
                continue
            weight = 1 + sum(map(len, rows))
            self._taken += weight
            self._queue.put((partial(self._log, step, rows, own), weight))

    def _work(self) -> None:
        """What the tracker's thread does."""
        while (item := self._queue.get()) is not None:
            work, weight = item
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - the boundary to a tracker's library
                self._losses.add("tracker", described(error), bool(weight))
            self._done += weight

    def _log(self, step: int, rows: Sequence[bytes], own: Mapping[str, Value]) -> None:
        """In the tracker's thread: compute and log a step."""
        values, examples, refused = self._steps.of(rows)
        if refused:
            self._losses.add("tracker_value", "a row that the board refuses", refused)
        if values or own:
            self._writer.scalars(step, {**values, **own})
        if examples:
            self._writer.examples(step, f"{OWN_PREFIX}rollouts", examples)

    @cached_property
    def _writer(self) -> TrackerWriter:
        """In the tracker's thread: it, opened when it is first needed, and tried again where that failed."""
        return self._opening()

    def _end(self) -> None:
        if "_writer" in vars(self):  # it was opened
            if at_end := self._steps.at_end():
                self._writer.scalars(int(self._sent), at_end)
            self._writer.close()


def _finite(value: object) -> float:
    """A number, or an array of one, as float. Raises ValueError for one that is not finite, TypeError for what is none."""
    number = float(np.asarray(value).item())
    if not math.isfinite(number):
        raise ValueError(f"{number} is not finite")
    return number
