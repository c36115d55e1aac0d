"""What there is of a run beside a frame that holds a sample of it: every step whole when it is asked for, what curves need of all, counts.

The rest stays in the files of an index (`board.runs.framed_index`). Knows neither how a run is opened nor screens, nor what a filter says:
who filters brings what tells which rollouts of a step it leaves.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.errors import ArgumentRefused
from board.runs.frame_files import numbers
from board.runs.framed_index import FramedIndex
from board.runs.kept_rows import KeptRows
from board.runs.rollout import ParsedSource
from board.text.counting import plural

SETTING: Final = "RL_BOARD_MEMORY_ROLLOUTS"
"""Environment variable: how many rollouts of an index are held in memory at most."""

ROLLOUT_BYTES: Final = 660
"""A rollout of a frame takes so many at the peak of an open (docs/scale.md)."""

_SHARE: Final = 4
"""One run may take one part in so many of the machine's memory."""

Left = Callable[[int], NDArray[np.int64]]
"""The keys that a filter leaves of a step."""


def most_in_memory() -> int:
    """How many rollouts of an index a frame holds at most. Raises ArgumentRefused where SETTING is no whole number above 0."""
    given = os.environ.get(SETTING, "")
    if given:
        if not given.isdecimal() or int(given) < 1:
            raise ArgumentRefused(f"{SETTING} is a whole number of rollouts above 0, not {given!r}.")
        return int(given)
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _SHARE / ROLLOUT_BYTES)


@dataclass(frozen=True)
class BeyondMemory:
    """What a run's frame is a sample of."""

    framed: FramedIndex
    rollouts: int
    """How many there are, of the split and those that the filter leaves."""
    split: str = ""
    """The split they are of; empty for all."""
    filtered: str = ""
    """The condition in SQL that they satisfy; empty where there is no filter."""
    left: Left | None = None
    """Where there is one."""

    @property
    def splits(self) -> tuple[str, ...]:
        """Which there are."""
        held = self.framed.files.account.splits
        return tuple(one for one in held if one == self.split) if self.split else tuple(held)

    @property
    def exact(self) -> bool:
        """Whether `of_steps` tells of all rollouts: it does so of those of one split without a filter."""
        return len(self.splits) == 1 and not self.filtered

    @property
    def shards(self) -> set[str]:
        """Those that any rollout of the index is of."""
        account = self.framed.files.account
        return {name for name, rows in zip(account.shards, account.shard_rows, strict=True) if rows}

    def of_split(self, split: str) -> "BeyondMemory":
        """The same of one split alone; how many a filter leaves of it is then a guess by its share of all."""
        held = self.framed.files.account.splits
        share = held.get(split, 0) / max(1, sum(held[one] for one in self.splits))
        return replace(self, split=split, rollouts=round(self.rollouts * share) if self.filtered else held.get(split, 0))

    def of_steps(self, named: str) -> "pd.Series[float] | None":
        """A number of each step, made of all rollouts: `value/<key>` or `stat/<column>/<statistic>`; None where nobody made it."""
        table = self.framed.files.steps(self.splits[0]) if self.exact else None
        if table is None or named not in table.column_names:
            return None
        steps = pd.Index(table.column("step").to_numpy(), name="step")
        return pd.Series(numbers(table.column(named)), steps, name=named)

    def find(self, named: ParsedSource) -> tuple[int, int] | None:
        """The key and the step of the rollout that a link names; None where there is none in the index."""
        return self.framed.find(named)

    def step(self, step: int) -> tuple[pd.DataFrame, KeptRows] | None:
        """All rows of a step; None where they are too many for memory."""
        if self.framed.rows_in_step(step) > most_in_memory():
            return None
        frame, rows = self.framed.of_step(step)
        keys = frame.index.to_numpy()
        kept = np.ones(len(frame), np.bool_) if self.left is None else np.isin(keys, self.left(step))
        return frame[kept], rows

    def at(self, keys: NDArray[np.int64]) -> tuple[pd.DataFrame, KeptRows]:
        """The rows of some rollouts, in the frame's order."""
        return self.framed.at(keys)


@dataclass(frozen=True)
class SampleAccount:
    """How much of a run is shown."""

    shown: int
    rollouts: int
    exact: bool
    """Whether curves are of all."""
    whole: tuple[int, ...]
    """Steps that are whole beside the sample."""

    @property
    def share(self) -> str:
        """How much is shown, where curves are none of the matter."""
        return f"A sample of {self.shown:,} of {plural(self.rollouts, 'rollout')}, even over steps"

    def __str__(self) -> str:
        """One line for the reader."""
        curves = (
            "Curves and means by step are of all (lengths of right and wrong ones: of the sample)"
            if self.exact
            else "Curves are of the sample"
        )
        whole = f"; {'step' if len(self.whole) == 1 else 'steps'} {' and '.join(f'{one:,}' for one in self.whole)} whole" * bool(
            self.whole
        )
        return f"{self.share}{whole}. {curves}."


def with_whole_steps(frame: pd.DataFrame, steps: list[tuple[int, pd.DataFrame]]) -> pd.DataFrame:
    """The frame with these steps in the place of what it has of them; both in order of steps."""
    pieces, at = list[pd.DataFrame](), 0
    held = frame["step"].to_numpy()
    for step, rows in sorted(steps, key=lambda one: one[0]):
        pieces += [frame.iloc[at : int(np.searchsorted(held, step))], rows]
        at = int(np.searchsorted(held, step, side="right"))
    pieces.append(frame.iloc[at:])
    return _joined(pieces, frame)


def _joined(pieces: list[pd.DataFrame], like: pd.DataFrame) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for name in like.columns:
        own = [piece[name] for piece in pieces]
        if isinstance(like[name].dtype, pd.CategoricalDtype):
            columns[name] = pd.api.types.union_categoricals([one.array for one in own])
        else:
            columns[name] = np.concatenate([one.to_numpy() for one in own])
    return pd.DataFrame(
        columns, index=pd.Index(np.concatenate([piece.index.to_numpy() for piece in pieces]), name=like.index.name)
    )
