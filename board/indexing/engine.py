"""What has byte ranges parsed for an index: this process and others of this machine, or a cluster. Knows no run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from board.indexing.range_task import RangeTask, Site
from board.runs.worker_pool import Outcome


@dataclass(frozen=True)
class FinishedTask:
    """What became of a task."""

    task: RangeTask
    outcome: Outcome
    seconds: float
    """From when a worker was given it until it answered."""


class Engine(Protocol):
    """Takes tasks and gives what became of each, once, in any order."""

    def outcomes(self, tasks: Sequence[RangeTask], site: Site, tick: Callable[[], None]) -> Iterator[FinishedTask]:
        """What becomes of each task, as it comes; `tick` is called while waiting. A worker that ends costs its tasks: an OSError each."""
