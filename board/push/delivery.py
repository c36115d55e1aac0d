"""The tracker's side of a push: its run, what is delivered to it, and how far that has come. Failures of its library become sentences.

Steps, numbers by name, rows of text and findings are delivered.
"""

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from typing import Final

from board.errors import BoardError
from board.findings.contract import Finding
from board.metrics import OWN_PREFIX
from board.push.places import State, Target
from board.push.shown import Links, row, text
from board.trackers.contract import Example, TrackerWriter

ROLLOUTS: Final = f"{OWN_PREFIX}rollouts"
FINDINGS: Final = f"{OWN_PREFIX}findings"
"""What examples are called in the tracker."""


@dataclass
class Pushed:
    """How far a push has come."""

    steps: int = 0
    to_go: int = 0
    metrics: int = 0
    """Names that were given numbers, in the step that had most."""
    waiting: int = 0
    """Steps that are held back, as they may still be being written."""
    last: int | None = None
    """The last step that was pushed, now or before."""
    place: str = ""
    name: str = ""


class Delivery:
    """One run in one tracker. Every method raises BoardError where the tracker fails.

    What was delivered is noted with the next steps, and when the tracker's run has ended in order.
    """

    def __init__(self, target: Target, state: State, name: str, done: Pushed, links: Links) -> None:
        """`done` is updated on the way; the run gets that name where it is not there yet."""
        self.state, self.done = state, done
        done.last = state.last
        self._target, self._name, self._links = target, name, links
        self._writer: TrackerWriter | None = None
        self._failed = False

    def open(self) -> None:
        """Begin the run there, or go on with it; where it is open, note what was delivered before."""
        state, interrupts = self.state, signal.getsignal(signal.SIGINT)
        if self._writer is None:
            with self._tracker():
                self._writer = self._target.opened(state.name or self._name, state.run_id, begins=not state.name)
            signal.signal(signal.SIGINT, interrupts)  # SwanLab ends its run at Ctrl+C, when more is to be delivered
            state.name = self.done.name = self._writer.name
            self.done.place = self._writer.place
        state.save()

    def step(
        self, step: int, values: Mapping[str, float], rollouts: Sequence[Example], findings: Sequence[Finding], reached: int
    ) -> None:
        """Deliver one step of a run that has reached another: its numbers, then what is shown with them."""
        writer = self._writer
        if writer is None:
            raise AssertionError("nothing is delivered before it is open")
        with self._tracker():
            if values:
                writer.scalars(step, values)
            if rollouts:
                writer.examples(step, ROLLOUTS, rollouts)
            if findings:
                writer.examples(step, FINDINGS, [row(finding, self._links) for finding in findings])
            for finding in findings:
                writer.alert(finding.title, text(finding), error=finding.severity == "error")
                self.state.told[finding.kind] = reached
        done = self.done
        self.state.last = done.last = step
        done.steps, done.to_go, done.metrics = done.steps + 1, done.to_go - 1, max(done.metrics, len(values))

    def add(self, values: Mapping[str, float]) -> None:
        """Deliver more numbers of the last step, where there is one."""
        if self._writer is not None and self.state.last is not None and values:
            with self._tracker():
                self._writer.scalars(self.state.last, values)

    def close(self) -> None:
        """End the tracker's run; what was delivered has arrived once that is through."""
        if self._writer is None:
            return
        with self._tracker():
            self._writer.close()
        if not self._failed:
            self.state.save()

    @contextmanager
    def _tracker(self) -> Iterator[None]:
        """Around calls of the tracker, whose library may raise anything, and print."""
        try:
            with nullcontext() if self._target.tracker == "stdout" else redirect_stdout(sys.stderr):
                yield
        except BoardError:
            self._failed = True
            raise
        except Exception as error:
            self._failed = True
            raise BoardError(f"{self._target.tracker} failed ({type(error).__name__}: {error}).") from error
