"""What a recorder tells a tracker: at each step's end its numbers, those of its rows and those the trainer hands over, together.

The numbers of rows are computed by the code of `push`, which needs all that the board needs: it is imported here alone, once a tracker is
asked for. Between the recorder and the tracker, which may be slow, fail, hang or not be there, stands a thread of its own.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from board import trackers
from board.errors import missing_library
from board.metrics import OWN_PREFIX
from board.metrics.declared import DIALECTS
from board.recorder.losses import FAILURES, Losses, described
from board.recorder.values import Parts, line, to_numpy
from board.trackers.contract import Example, TrackerWriter, Value

if TYPE_CHECKING:
    from board.push.recorded_steps import RecordedSteps

LIMIT: Final = 1_000
"""Calls that may wait for the tracker."""

ATTEMPTS: Final = 3
"""How often opening the tracker is tried: at once, then when something is to be handed over."""

OPENING_SECONDS: Final = 5.0
"""So long does closing wait for a tracker that was not opened in all the time of training: it refuses the log-in, or is not reached."""

Message = Callable[[TrackerWriter], None]
"""One call of the tracker."""


def opening(run: str, name: str, kwargs: Mapping[str, Any], names: str) -> Callable[[], TrackerWriter]:
    """What opens a tracker, whose library is looked for once it is called. Raises ValueError for a tracker or names that nobody knows."""
    if name not in trackers.OPTIONS:
        raise ValueError(f"track_with is one of {', '.join(trackers.OPTIONS)}, not {name!r}.")
    if names not in DIALECTS:
        raise ValueError(f"names is one of {', '.join(DIALECTS)}, not {names!r}.")
    return partial(trackers.tracker(name).open_writer, run, **_plain(kwargs))


class Tracking:
    """The steps of one process, on their way to a tracker. Called by one thread at a time; never waits for the tracker and never raises.

    A step's numbers leave together, in rising order of steps, as some trackers refuse to go back: once rows or numbers of a later
    step come, or the trainer says that the step has ended.
    """

    def __init__(self, opening: Callable[[], TrackerWriter], seconds: float, how: Mapping[str, Any], losses: Losses) -> None:
        """Closing waits so many seconds for the tracker at most; `how` rows are computed is said to `RecordedSteps`."""
        self._seconds = seconds
        self._how = how
        self._losses = losses
        self._channel = Channel(opening, losses)
        self._steps: RecordedSteps | None = None
        self._step: int | None = None
        self._told: int | None = None
        self._rows: list[Parts] = []
        self._given: dict[int, dict[str, Value]] = {}

    def row(self, step: int, row: Parts) -> None:
        """Take in a rollout. One of a later step ends the one before; one of an earlier step comes too late."""
        if self._step is None:
            self._begin()
        if (self._told is not None and step <= self._told) or (self._step is not None and step < self._step):
            self._losses.add("tracker_late")
            return
        if step != self._step:
            self.end_step()
        self._step = step
        self._rows.append(row)

    def given(self, step: int, values: Mapping[str, Any]) -> None:
        """Take in numbers, truth values (as 1 and 0) and texts of the trainer's own."""
        own = self._given.setdefault(step, {})
        for name, value in values.items():
            try:
                own[str(name)] = value if isinstance(value, str) else finite(value)
            except FAILURES as error:  # the boundary to training: a value may be any object, and fail in any way
                self._losses.add("tracker_value", f"{name!r}: {described(error)}")
        if not self._rows:
            self._tell(below=step)

    def end_step(self) -> None:
        """Hand on the numbers of the step that was being written, and what the trainer gave up to it."""
        if self._rows and self._step is not None:
            self._tell(below=self._step + 1)

    def close(self) -> None:
        """Hand on all there is, what comes once at the end last, and close the tracker within the time it has."""
        self._tell()
        if self._told is not None and self._steps is not None:
            self._put(self._told, self._steps.at_end())
        self._channel.close(self._seconds)

    def _begin(self) -> None:
        """With the first row: what is missing is said then, and no thread may start while the interpreter ends."""
        self._channel.begin()
        try:
            from board.push.recorded_steps import RecordedSteps

            self._steps = RecordedSteps(**self._how)
        except ModuleNotFoundError as error:
            self._losses.add("tracker", missing_library(error, "Computing numbers of rows for a tracker"), count=0)

    def _tell(self, below: int | None = None) -> None:
        """Hand on what there is of steps below one, or of all, in their order."""
        written = {self._step} if self._rows and self._step is not None else set[int]()
        for step in sorted(step for step in written | self._given.keys() if below is None or step < below):
            computed, examples = self._computed() if step in written else ({}, ())
            self._told = step if self._told is None else max(self._told, step)
            self._put(step, {**computed, **self._given.pop(step, {})}, examples)

    def _computed(self) -> tuple[dict[str, float], Sequence[Example]]:
        """The numbers of the rows there are and the rollouts that are shown; where it fails the trainer's own numbers still leave."""
        rows, self._rows = self._rows, []
        if self._steps is None:
            self._losses.add("tracker")
            return {}, ()
        try:
            values, examples, refused = self._steps.of([line(row)[:-1] for row in rows])
        except FAILURES as error:  # the boundary to training
            self._losses.add("tracker", described(error))
            return {}, ()
        if refused:
            self._losses.add("tracker_value", "a row that the board refuses", refused)
        return values, examples

    def _put(self, step: int, values: Mapping[str, Value], examples: Sequence[Example] = ()) -> None:
        if values:
            self._channel.put(lambda writer: writer.scalars(step, values))
        if examples:
            self._channel.put(lambda writer: writer.examples(step, f"{OWN_PREFIX}rollouts", examples))


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
        """Start the thread, unless it has begun."""
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
        self._hand_on(_nothing, count=0)  # opened at once: what is missing is said at the first row, not after the first step
        while (message := self._queue.get()) is not None and not self._given_up.is_set():
            self._hand_on(message)
        if self._writer is not None:
            self._hand_on(lambda writer: writer.close(), count=0)

    def _hand_on(self, message: Message, count: int = 1) -> None:
        """Open the tracker, unless it is open, and call it; a failure is a loss of so many messages."""
        try:
            if self._writer is None and self._attempts < ATTEMPTS:
                self._attempts += 1
                self._writer = self._open()
            if self._writer is None:
                raise ConnectionError("it could not be opened")
            message(self._writer)
        except FAILURES as error:  # the boundary to a tracker's library
            if not self._given_up.is_set():
                self._losses.add("tracker", described(error), count)


def _nothing(writer: TrackerWriter) -> None:
    """Asked of a tracker that is only to be opened."""


def finite(value: object) -> float:
    """A number or a tensor of one element as float. Raises ValueError for one that is not finite, TypeError for what is none."""
    number = np.asarray(to_numpy(value))
    if number.dtype.kind not in "fiub":
        raise TypeError(f"{type(value).__name__} is not a number")
    single = float(number.item())
    if not np.isfinite(single):
        raise ValueError(f"{single} is not finite")
    return single


def _plain(value: Any) -> Any:
    """Dicts and lists of a configuration library (OmegaConf's, for one) as Python's own."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "__iter__") and hasattr(value, "__len__") and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    return value
