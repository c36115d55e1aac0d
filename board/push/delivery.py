"""The tracker's side of a push: opened when there is something to hand on, each step noted before and after, failures made sentences.

Knows steps, numbers by name and rows of text; knows no run and no metric.
"""

import math
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.errors import BoardError
from board.metrics import OWN_PREFIX
from board.push.state import StateFile
from board.push.targets import Target
from board.push.told_findings import ToldFinding, unsaid
from board.trackers.contract import AlertingWriter, Example, TrackerWriter

ROLLOUTS: Final = f"{OWN_PREFIX}rollouts"
FINDINGS: Final = f"{OWN_PREFIX}findings"
"""What examples are called in the tracker."""


@dataclass
class Pushed:
    """How far a push has come."""

    steps: int = 0
    metrics: int = 0
    """Names that were given numbers, in the step that had most."""
    to_go: int = 0
    since: float = 0.0
    """When the steps that are being pushed were begun, `time.monotonic()`."""
    before: int = 0
    """Steps that had been pushed by then."""
    waiting: int = 0
    """Steps that are held back, as they may still be being written."""
    last: int | None = None
    """The last step that was pushed, now or before."""
    place: str = ""
    name: str = ""
    trouble: str = ""
    """Why the last look for findings while following had no answer; empty where it had."""
    interrupted: int | None = None
    """The step an earlier push was stopped in, where nobody can tell whether it arrived: it counts as pushed."""

    def begin(self, steps: int) -> None:
        """So many steps are to be pushed now."""
        self.to_go, self.since, self.before = steps, time.monotonic(), self.steps

    @property
    def rate(self) -> float:
        """Steps per second since they were begun; NaN before."""
        seconds = time.monotonic() - self.since
        return (self.steps - self.before) / seconds if self.since and seconds else math.nan

    def add(self, step: int, metrics: int) -> None:
        """One more step, and how many names were given numbers in it."""
        self.steps, self.to_go, self.last = self.steps + 1, self.to_go - 1, step
        self.metrics = max(self.metrics, metrics)


class Handing:
    """One run in one tracker. Every method raises BoardError where the tracker fails.

    A step counts as pushed once the tracker has it: when its run has ended in order, or when it says so itself the next time it is opened.
    """

    def __init__(self, target: Target, file: StateFile, name: str, done: Pushed) -> None:
        """`done` is kept up to date."""
        self.done = done
        self.done.last = file.handed
        self._target = target
        self._file = file
        self._name = name
        self._writer: TrackerWriter | None = None
        self._failed = False
        self._findings: tuple[int, list[Example]] = (0, [])
        """What was last told of findings, and at which step: some trackers keep one table a step, the last."""

    @property
    def last(self) -> int | None:
        """The last step that was handed on."""
        return self._file.handed

    @property
    def is_open(self) -> bool:
        """Whether anything can be handed on."""
        return self._writer is not None and self.last is not None

    def has_news(self, steps: NDArray[np.int64]) -> bool:
        """Whether there is a reason to open it: a step beyond the last one, or one that an earlier process was stopped in."""
        return self._file.state.going is not None or self.last is None or bool((steps > self.last).any())

    def open(self) -> None:
        """Begin the run there, or go on with it, unless it is open."""
        if self._writer is not None:
            return
        state = self._file.state
        with self._tracker(), uninterrupted():
            if state.name:
                self._writer = self._target.go_on(state.name, state.run_id)
            else:
                state.name, self._writer = self._target.begin(self._name, state.run_id)
        self.done.interrupted = self._file.settle(self._writer.last_step, tells=self._target.tells)
        self.done.last, self.done.name, self.done.place = self.last, state.name, self._writer.place
        self._file.save()

    def step(self, step: int, values: Mapping[str, float], rollouts: Sequence[Example], findings: Sequence[ToldFinding]) -> None:
        """Hand on one step's numbers, then what is shown beside them. An interrupt waits until it is through."""
        if self._writer is None:
            raise AssertionError("nothing is handed on before it is open")
        with uninterrupted():
            self._file.begin(step, [one.name for one in findings])
            with self._tracker():
                self._writer.scalars(step, values)
                if rollouts:
                    self._writer.examples(step, ROLLOUTS, rollouts)
                self._tell(self._writer, step, findings)
            self._file.end()
            self.done.add(step, len(values))

    def add(self, values: Mapping[str, float]) -> None:
        """Hand on more numbers of the last step; nothing before there is one."""
        if self._writer is not None and self.last is not None and values:
            with uninterrupted(), self._tracker():
                self._writer.scalars(self.last, values)

    def show(self, findings: Sequence[ToldFinding]) -> None:
        """Hand on findings at the last step; nothing before there is one."""
        if self._writer is None or self.last is None or not findings:
            return
        with uninterrupted():
            self._file.begin(self.last, [one.name for one in findings])
            with self._tracker():
                self._tell(self._writer, self.last, findings)

    def unsaid(self, found: Sequence[ToldFinding]) -> list[ToldFinding]:
        """The findings that were not handed on before."""
        return unsaid(found, [*self._file.state.findings, *self._file.state.telling])

    def close(self) -> None:
        """End the tracker's run; what was handed on has arrived once that is through, and is noted then.

        Where it was not all taken, the note stays as it was and the tracker is asked the next time. One that nobody can ask, such as a
        terminal, took what it raised nothing against.
        """
        if self._writer is None:
            return
        with uninterrupted():
            try:
                with self._tracker():
                    self._writer.close()
            finally:
                self._writer = None
                if not (self._failed and self._target.asked):
                    self._file.confirm()

    def _tell(self, writer: TrackerWriter, step: int, findings: Sequence[ToldFinding]) -> None:
        """Findings as a table at a step, below those told at it before, and as the tracker's own alerts where it has any."""
        if not findings:
            return
        at, rows = self._findings
        self._findings = step, [*(rows if at == step else []), *(one.row for one in findings)]
        writer.examples(step, FINDINGS, self._findings[1])
        if isinstance(writer, AlertingWriter):
            for one in findings:
                writer.alert(one.title, one.text, error=one.severity == "error")

    @contextmanager
    def _tracker(self) -> Iterator[None]:
        """Around calls of the tracker, whose library may raise anything."""
        try:
            yield
        except BoardError:
            self._failed = True
            raise
        except Exception as error:
            self._failed = True
            raise BoardError(f"{self._target.tracker} failed ({type(error).__name__}: {error}).") from error


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds the first Ctrl+C back until what is inside is through, and no second one.

    In threads but the main one, which Ctrl+C never reaches, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        if held:  # the second time: what is inside hangs
            raise KeyboardInterrupt
        held.append(number)

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt
