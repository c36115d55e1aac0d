"""The tracker's side of a push: opened when there is something to hand on, each step noted behind it, failures made sentences.

Knows steps, numbers by name and rows of text; knows no run and no metric.
"""

import math
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from types import FrameType
from typing import Final

from board.errors import BoardError
from board.metrics import OWN_PREFIX
from board.push.state import State
from board.push.targets import Target
from board.push.told_findings import ToldFinding
from board.trackers.contract import Example, TrackerWriter

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

    What was handed on is noted at once where the library writes at once, else when the tracker's run has ended in order, or with the next
    steps, so many seconds later: so a kill or a failure leaves no step out, and doubles the one that was under way, or those since the note.
    """

    def __init__(self, target: Target, state: State, name: str, done: Pushed, later: float = 30.0) -> None:
        """`done` is kept up to date; `later`: seconds after which a library that writes later has written what it took."""
        self.done = done
        done.last = state.last
        self.state = state
        """The last step that was handed on, and what was told; on the disk what is noted of them."""
        self._target, self._name = target, name
        self._writer: TrackerWriter | None = None
        self._failed = False
        self._later, self._handed = later, time.monotonic()
        self._findings: tuple[int, list[Example]] = (0, [])
        """What was last told of findings, and at which step: some trackers keep one table a step, the last."""

    @property
    def is_open(self) -> bool:
        """Whether anything can be handed on beside a step."""
        return self._writer is not None and self.state.last is not None

    def open(self) -> None:
        """Begin the run there, or go on with it; where it is open, note what was handed on long ago."""
        if self._writer is not None:
            if time.monotonic() - self._handed >= self._later:
                self.state.save()
            return
        state = self.state
        with self._tracker():
            self._writer = self._target.opened(state.name or self._name, state.run_id, begins=not state.name)
            state.name = self.done.name = self._writer.name
            self.done.place = self._writer.place
            state.save()

    def step(self, step: int, values: Mapping[str, float], rollouts: Sequence[Example], findings: Sequence[ToldFinding]) -> None:
        """Hand on one step's numbers, then what is shown beside them. An interrupt waits until it is through."""
        if self._writer is None:
            raise AssertionError("nothing is handed on before it is open")
        with self._tracker():
            self._writer.scalars(step, values)
            if rollouts:
                self._writer.examples(step, ROLLOUTS, rollouts)
            self._tell(self._writer, step, findings, step)
            self.state.last = step
            self._note()
            self.done.add(step, len(values))

    def add(self, values: Mapping[str, float], findings: Sequence[ToldFinding], reached: int) -> None:
        """Hand on more of the last step, and findings of a run that has reached a step; nothing before there is one."""
        if self._writer is not None and self.state.last is not None and (values or findings):
            with self._tracker():
                if values:
                    self._writer.scalars(self.state.last, values)
                self._tell(self._writer, self.state.last, findings, reached)
                self._note()

    def close(self) -> None:
        """End the tracker's run; what was handed on has arrived once that is through, and is noted then."""
        writer, self._writer, last = self._writer, None, self.state.last
        if writer is None:
            return
        with self._tracker():
            writer.close()
        if not self._failed and last is not None:
            self.state.told = {kind: max(step, last) for kind, step in self.state.told.items()}
            self.state.save()

    def _note(self) -> None:
        self._handed = time.monotonic()
        if self._target.writes_at_once:
            self.state.save()

    def _tell(self, writer: TrackerWriter, step: int, findings: Sequence[ToldFinding], reached: int) -> None:
        """Findings as a table at a step, below those told at it before, and as the tracker's own alerts."""
        if not findings:
            return
        at, rows = self._findings
        self._findings = step, [*(rows if at == step else []), *(one.row for one in findings)]
        writer.examples(step, FINDINGS, self._findings[1])
        for one in findings:
            writer.alert(one.title, one.text, error=one.severity == "error")
        self.state.told = {**self.state.told, **{one.kind: max(reached, one.step) for one in findings}}

    @contextmanager
    def _tracker(self) -> Iterator[None]:
        """Around calls of the tracker, whose library may raise anything."""
        try:
            with uninterrupted(), nullcontext() if self._target.tracker == "stdout" else redirect_stdout(sys.stderr):
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
