"""What a recorder tells a tracker: at each step's end its numbers, those of its rows and those the trainer hands over, together.

Called by one thread at a time; never waits and never raises. Knows steps and sums; knows nothing of files.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from board import trackers
from board.errors import BoardError
from board.metrics import OWN_PREFIX
from board.metrics.declared import DIALECTS, named_once, renamed
from board.recorder.drop_log import FAILURES, Losses, described
from board.recorder.examples import StepExamples
from board.recorder.row_stats import is_discarded
from board.recorder.snapshot import to_numpy
from board.recorder.step_aggregator import SO_FAR, StepSums
from board.recorder.tracker_thread import Channel
from board.trackers.contract import Example, TrackerWriter, Value


@dataclass(frozen=True)
class Options:
    """How a run is tracked; `board.recorder.RolloutRecorder` explains each."""

    seconds: float
    examples: int
    seed: int
    pads: frozenset[str]
    names: str


class Tracking:
    """The steps of one process, on their way to a tracker.

    A step's numbers leave together, in rising order of steps, as some trackers refuse to go back: once rows or numbers of a later
    step come, or the trainer says that the step has ended.
    """

    def __init__(self, open_writer: Callable[[], TrackerWriter], losses: Losses, options: Options) -> None:
        self._losses = losses
        self._options = options
        self._channel = Channel(open_writer, losses)
        self._sums: StepSums | None = None
        self._examples = StepExamples(0, "")
        self._step: int | None = None
        self._told: int | None = None
        self._given: dict[int, dict[str, Value]] = {}
        self._so_far: dict[str, float] = {}

    def row(self, step: int, row: Mapping[str, Any], group: bytes | None) -> None:
        """Take in a rollout without padding; `group` is equal for those of one group.

        One of a later step ends the one before; one of an earlier step comes too late.
        """
        self._channel.begin()
        if self._step is not None and step > self._step:
            self.end_step()
        if (self._told is not None and step <= self._told) or (self._sums is not None and step != self._step):
            self._losses.add("tracker_late")
            return
        if self._sums is None:
            self._sums, self._step = StepSums(self._options.pads), step
            self._examples = StepExamples(self._options.examples, f"{self._options.seed} {step}")
        try:
            self._sums.add(row, group)
            if not is_discarded(row):
                self._examples.add(row)
        except FAILURES as error:  # the boundary to training: a value may be any object, and fail in any way
            self._losses.add("tracker_value", described(error))

    def given(self, step: int, values: Mapping[str, Any]) -> None:
        """Take in numbers, truth values (as 1 and 0) and texts of the trainer's own."""
        own = self._given.setdefault(step, {})
        for name, value in values.items():
            try:
                own[str(name)] = value if isinstance(value, str) else finite(value)
            except FAILURES as error:  # the boundary to training, as in `row`
                self._losses.add("tracker_value", f"{name!r}: {described(error)}")
        if self._sums is None:
            self._tell_given(below=step)

    def end_step(self) -> None:
        """Hand on the numbers of the step that was being written, and what the trainer gave up to it."""
        sums, self._sums = self._sums, None
        if sums is None or self._step is None:
            return
        self._tell_given(below=self._step)
        try:
            values = sums.values()
            for key, (combine, of) in SO_FAR.items():
                if of in values:
                    both = [self._so_far[key], values[of]] if key in self._so_far else [values[of]]
                    self._so_far[key] = max(both) if combine == "max" else sum(both)
            names = renamed(values, self._options.names)
            computed: dict[str, Value] = {name: value for key, value in values.items() for name in names[key]}
        except FAILURES as error:  # the boundary to training: the trainer's own numbers still leave
            self._losses.add("tracker", described(error))
            computed = {}
        self._tell(self._step, computed | self._given.pop(self._step, {}), self._examples.rows())

    def close(self) -> None:
        """Hand on all there is, what comes once at the end last, and close the tracker within the time it has."""
        self.end_step()
        self._tell_given()
        if self._told is not None:
            self._tell(self._told, named_once(self._so_far, self._options.names))
        self._channel.close(self._options.seconds)

    def _tell_given(self, below: int | None = None) -> None:
        """Hand on what the trainer gave for steps below one, or for all."""
        for step in sorted(step for step in self._given if below is None or step < below):
            self._tell(step, self._given.pop(step))

    def _tell(self, step: int, values: Mapping[str, Value], examples: Sequence[Example] = ()) -> None:
        self._told = step if self._told is None else max(self._told, step)
        if values:
            self._channel.put(lambda writer: writer.scalars(step, values))
        if examples:
            self._channel.put(lambda writer: writer.examples(step, f"{OWN_PREFIX}rollouts", examples))


def opener(run: str, name: str, options: Mapping[str, Any]) -> Callable[[], TrackerWriter]:
    """What opens a run of a tracker. Raises BoardError for a tracker nobody knows; its library is looked for when it is opened."""
    tracker = trackers.tracker(name)
    plain = {key: _plain(value) for key, value in options.items()}
    return lambda: tracker.open_writer(run, **plain)


def checked_names(names: str) -> str:
    """The name of a dialect. Raises BoardError for one that nobody knows."""
    if names not in DIALECTS:
        raise BoardError(f"names is one of {', '.join(DIALECTS)}, not {names!r}.")
    return names


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
