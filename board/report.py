"""What loading a run found: shards, rows, bytes, and every problem with its shard and line.

Problems are data, not exceptions: the frame holds what could be read, the report says what could not. Knows nothing of screens.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from board.shards import Problem

KEPT_PROBLEMS: Final = 1_000
"""So many problems of each severity are kept in full; the rest are counted. A run with a fault in every row has millions."""

REPEAT_FACTOR: Final = 2
"""A step with at least so many times the rows of its neighbours is looked at for being written twice."""

NAMED_WRITES: Final = 4
"""So many writes of one step are named by their lines: ranks that take turns in one file write each step thousands of times."""


@dataclass
class LoadReport:
    """The account of one load. `problems` holds the first KEPT_PROBLEMS of each severity, `counts` all of them."""

    shards: int = 0
    rows: int = 0
    bytes: int = 0
    """Size of the shards on disk."""
    seconds: float = 0.0
    cache_note: str = ""
    """Why nothing, or not everything, could be kept for the next load; empty when it could."""
    unfinished: list[str] = field(default_factory=list)
    """Shards whose last line is still being written."""
    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    _kept: Counter[str] = field(default_factory=Counter, repr=False)

    def add(self, problem: Problem) -> None:
        """Count a problem, and keep it while there is room."""
        self.counts[problem.severity] += 1
        self.keep(problem)

    def keep(self, problem: Problem) -> None:
        """Keep a problem that is counted already, while there is room."""
        self._kept[problem.severity] += 1
        if self._kept[problem.severity] <= KEPT_PROBLEMS:
            self.problems.append(problem)

    @property
    def refused(self) -> int:
        """Lines and shards that were not loaded."""
        return self.counts["refused"]

    @property
    def flagged(self) -> int:
        """Things that are odd about what was loaded."""
        return self.counts["flagged"]

    @property
    def left_out(self) -> int:
        """Problems counted but not kept."""
        return self.counts.total() - len(self.problems)

    def to_frame(self) -> pd.DataFrame:
        """The kept problems as columns severity, shard, line (nullable), reason."""
        rows = [(problem.severity, problem.shard, problem.line, problem.reason) for problem in self.problems]
        frame = pd.DataFrame(rows, columns=["severity", "shard", "line", "reason"])
        return frame.astype({"line": "Int64"})


def repeated_steps(scalars: pd.DataFrame) -> list[Problem]:
    """Steps that one shard holds more than once, as a job resumed from a checkpoint writes them.

    `scalars` has step, shard, line and prompt_key in the order the rows were read. Two signs, either is enough: the shard comes back to a step
    after having gone on to another, or a step has a multiple of its neighbours' rows and repeats its own sequence of prompts.
    """
    problems: list[Problem] = []
    for shard, rows in scalars.groupby("shard", sort=False, observed=True):
        steps = rows["step"].to_numpy()
        starts = np.flatnonzero(np.concatenate([[True], steps[1:] != steps[:-1]]))
        blocks = [(int(steps[a]), rows.iloc[a:b]) for a, b in zip(starts, [*starts[1:], len(steps)], strict=True)]
        problems += _returns(str(shard), blocks)
        problems += _doubled(str(shard), blocks)
    return problems


def _lines(rows: pd.DataFrame) -> str:
    first, last = int(rows["line"].iloc[0]), int(rows["line"].iloc[-1])
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _repeated(shard: str, step: int, writes: list[pd.DataFrame]) -> Problem:
    where = ", ".join(_lines(rows) for rows in writes[:NAMED_WRITES])
    if len(writes) > NAMED_WRITES:
        where = f"{where} and {len(writes) - NAMED_WRITES:,} more"
    reason = f"step {step} is written {len(writes)} times ({where}), as by a resumed job: all rows are kept"
    return Problem(shard, int(writes[1]["line"].iloc[0]), reason, "flagged")


def _returns(shard: str, blocks: list[tuple[int, pd.DataFrame]]) -> list[Problem]:
    """Steps that come again after another step."""
    by_step: dict[int, list[pd.DataFrame]] = {}
    for step, rows in blocks:
        by_step.setdefault(step, []).append(rows)
    return [_repeated(shard, step, writes) for step, writes in by_step.items() if len(writes) > 1]


def _doubled(shard: str, blocks: list[tuple[int, pd.DataFrame]]) -> list[Problem]:
    """Steps whose rows are their own sequence of prompts several times over, while the other steps are shorter by that factor.

    A shard of one prompt, or of none, repeats itself anyway.
    """
    if len(blocks) < 3 or len({step for step, _ in blocks}) < len(blocks):
        return []
    if len({int(key) for _, rows in blocks for key in rows["prompt_key"].unique()}) < 2:
        return []
    usual = int(np.median([len(rows) for _, rows in blocks]))
    problems = []
    for step, rows in blocks:
        times, rest = divmod(len(rows), usual)
        if times < REPEAT_FACTOR or rest:
            continue
        keys = rows["prompt_key"].to_numpy().reshape(times, usual)
        if (keys == keys[0]).all():
            problems.append(_repeated(shard, step, [rows.iloc[i * usual : (i + 1) * usual] for i in range(times)]))
    return problems
