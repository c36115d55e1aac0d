"""What checks look at: the frame, the load report, and measures, which are a few numbers per rollout taken from its tokens and texts.

Parts are read one by one and dropped, so that memory grows with rollouts and not with tokens.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.runs.cache.parts import COUNTS, PADS, Part, part_of_rows
from board.runs.load_report import LoadReport
from board.runs.run import Run
from board.schema import TEXTS
from board.sources.shards import Fingerprint

PerRollout = NDArray[Any]
"""One number per rollout."""

MISSING: Final = "missing "
"""How the columns begin that count the tokens without a finite number, before the array's name."""


@dataclass(frozen=True)
class Batch:
    """The token arrays of n rollouts end to end, N tokens in all, and what else a part holds of them."""

    part: Part
    offsets: NDArray[np.int64]
    """Where each rollout's tokens begin, and N. Shape (n + 1,)."""
    counts: NDArray[np.bool_]
    """False for padding and masked tokens. Shape (N,)."""
    pads: NDArray[np.bool_]
    """True for padding. Shape (N,)."""
    arrays: Mapping[str, NDArray[np.float32]]
    """Token metrics, NaN for the tokens of a rollout without it. Shape (N,) each."""
    has: Mapping[str, NDArray[np.bool_]]
    """Which rollouts have the array. Shape (n,) each."""

    def per_rollout(self, values: PerRollout) -> PerRollout:
        """Sums of N numbers or marks over each rollout's tokens, 0 where it has none. Shape (n,)."""
        kind = np.int64 if values.dtype == bool else values.dtype
        sums = np.zeros(len(self.part), kind)
        filled = np.diff(self.offsets) > 0  # reduceat gives a rollout without tokens the value of its neighbour
        if filled.any():
            sums[filled] = np.add.reduceat(values, self.offsets[:-1][filled], dtype=kind)
        return sums

    def spread(self, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A mark per rollout given to each of its tokens. Shape (N,)."""
        return np.repeat(marks, np.diff(self.offsets))


Measure = Callable[[Batch], dict[str, PerRollout]]
"""From n rollouts to columns of n numbers, the same columns for every batch."""


def batch_of(part: Part) -> Batch:
    """A part's token arrays, without a copy."""
    columns = {name: part.tokens.column(name).chunk(0) for name in part.tokens.column_names}
    metrics = [name for name, column in columns.items() if pa.types.is_floating(column.type.value_type)]
    counts = columns[COUNTS]
    return Batch(
        part=part,
        offsets=counts.offsets.to_numpy(),
        counts=counts.values.to_numpy(zero_copy_only=False),
        pads=columns[PADS].values.to_numpy(zero_copy_only=False),
        arrays={name: columns[name].values.to_numpy() for name in metrics},
        has={name: columns[name].is_valid().to_numpy(zero_copy_only=False) for name in metrics},
    )


@dataclass(frozen=True)
class Evidence:
    """All that a check may look at."""

    frame: pd.DataFrame
    """As `Run.frame`, without rollouts that the trainer discarded."""
    measures: pd.DataFrame
    """The measures of every rollout, in the frame's order."""
    report: LoadReport
    fields: frozenset[str]
    """Columns, token metrics and declared texts that any rollout has."""
    files: Fingerprint = ()
    """Of the run."""
    discarded: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """The step of each rollout that the trainer discarded."""

    def keys(self, marks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The rollouts marked, in the frame's order. `marks` has the shape (rollouts,)."""
        return self.frame.index.to_numpy()[marks]

    @cached_property
    def lines(self) -> NDArray[Any]:
        """`shard:line` of every rollout, in the frame's order."""
        shards = self.frame["shard"].astype(str).to_numpy(object)
        lines: NDArray[Any] = shards + ":" + self.frame["line"].astype(str).to_numpy(object)
        return lines

    @cached_property
    def missing(self) -> Mapping[str, NDArray[np.int64]]:
        """By array how many tokens of each rollout count and have no finite number in it; 0 where a rollout lacks it. Shape (rollouts,)."""
        named = [str(name) for name in self.measures if str(name).startswith(MISSING)]
        return {name.removeprefix(MISSING): self.measures[name].fillna(0).to_numpy(np.int64) for name in named}

    @cached_property
    def without_numbers(self) -> NDArray[np.bool_]:
        """Rollouts with such a token in any array. Shape (rollouts,)."""
        found: NDArray[np.bool_] = np.any(
            [np.zeros(len(self.frame), np.bool_), *(one > 0 for one in self.missing.values())], axis=0
        )
        return found

    @cached_property
    def finished(self) -> NDArray[np.bool_]:
        """Rollouts of training, if there are any, of steps before the last, whose rows may still be on their way. Shape (rollouts,)."""
        training = np.ones(len(self.frame), np.bool_)
        if "split" in self.frame:
            training = (self.frame["split"].astype(object) != "evaluation").to_numpy()
        if not training.any():
            training = np.ones(len(self.frame), np.bool_)
        steps = self.frame["step"].to_numpy()
        return training & (steps < steps[training].max()) if len(steps) else training


def collect(run: Run, measures: Sequence[Measure], progress: Callable[[float], None] | None = None) -> Evidence:
    """The evidence about a run: every measure of every rollout. `progress` receives the share of these that is done."""
    tables, done = list[pd.DataFrame](), 0
    for part, start, rows in run.parts_of_rows():
        held = part if len(rows) == len(part) else part_of_rows(part, rows)
        batch = batch_of(held)
        columns = {name: values for measure in measures for name, values in measure(batch).items()}
        own = {name: held.scalars.column(name).to_numpy() for name in ("nth", "prompt_key")}
        tables.append(pd.DataFrame(columns | own, start + rows))
        done += len(rows)
        if progress:
            progress(done / len(run.frame))
    found = pd.concat(tables) if tables else pd.DataFrame()
    texts, tokens = {*run.text_columns}, {*run.list_columns}
    # what should have been a number or an array and was read as text is none
    fields = frozenset({*run.frame.columns, *tokens, *(texts & set(TEXTS))})
    frame = run.counted.frame  # what was discarded need not have what training gives
    discarded = run.frame["step"].drop(frame.index).to_numpy(np.int64)
    return Evidence(frame, found.reindex(frame.index), run.report, fields, run.fingerprint, discarded)
