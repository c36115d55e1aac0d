"""Runs made into indexes for tests: by workers that end in any order, or fail, and what an index must share with the run itself."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from board.indexing import making, range_task, target
from board.indexing.engine import Engine, FinishedTask
from board.indexing.job import IndexResult
from board.indexing.range_task import RangeTask, Site
from board.runs import worker_pool
from board.runs.run import Run


class ShuffledEngine:
    """So many workers at a time in this process, whose tasks begin in order and end in an order drawn from `seed`.

    `fails` says of which tasks nothing comes but the end of a worker.
    """

    def __init__(self, workers: int = 3, seed: int = 0, fails: Callable[[RangeTask], bool] = lambda _: False) -> None:
        self._workers, self._dice, self._fails = workers, random.Random(seed), fails
        self.parsed: list[tuple[str, int]] = []
        """Shard and start of every task that was to be parsed, as often as it was given."""

    def outcomes(self, tasks: Sequence[RangeTask], site: Site, tick: Callable[[], None]) -> Iterator[FinishedTask]:
        """As an engine does."""
        waiting, under_way = [*tasks], list[RangeTask]()
        while waiting or under_way:
            while waiting and len(under_way) < self._workers:
                under_way.append(waiting.pop(0))
            yield self._finished(under_way.pop(self._dice.randrange(len(under_way))), site)

    def _finished(self, task: RangeTask, site: Site) -> FinishedTask:
        if task.kept is None:
            self.parsed.append((task.byte_range.shard.name, task.byte_range.start))
        if self._fails(task):
            return FinishedTask(task, OSError("a worker ended"), 0.0)
        began = time.monotonic()
        outcome = worker_pool.outcome_of(range_task.answer(site.order(task), lambda _: None))
        return FinishedTask(task, outcome, time.monotonic() - began)


def indexed(
    run: Path | str, folder: Path | str, engine: Engine | None = None, *, verify: bool | None = None, **reading: Any
) -> IndexResult:
    """Make a run into an index, or bring one up to date."""
    with target.opened(run, folder, **reading) as goal:
        return making.make(goal, engine or ShuffledEngine(), verify=verify)


def assert_same(index: Run, run: Run) -> None:
    """Row for row what the cache shows: scalars, texts, arrays, moments, problems and what is said of the load."""
    pd.testing.assert_frame_equal(index.to_pandas(), run.to_pandas())
    pd.testing.assert_frame_equal(index.moments(sorted(run.moment_names)), run.moments(sorted(run.moment_names)))
    assert (index.prompt_keys == run.prompt_keys).all()
    assert index.report.problems == run.report.problems
    for name in ("shards", "rows", "bytes", "formats", "notes", "recording", "skipped", "unfinished", "counts", "aside"):
        assert getattr(index.report, name) == getattr(run.report, name), name
    keys = run.frame.index.to_numpy()
    assert index.sources(keys) == run.sources(keys)


def parts_of(folder: Path) -> set[str]:
    """Names of the parts of an index."""
    return {path.name for path in (folder / "parts").glob("*.arrow") if path.name.count(".") == 1}
