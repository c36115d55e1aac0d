"""A run to be compared: the rollouts of one split and a number of each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from board.analysis.steps.metric_names import alike
from board.analysis.steps.step_stats import finite_values
from board.errors import FieldMissing
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.runs.run import Run, Split


@dataclass(frozen=True)
class ComparedRun:
    """What of a run is compared."""

    run: Run
    """Its rollouts of one split."""
    split: Split
    values: Float64Array
    """The number of each rollout, NaN where it has none. (rows,)"""

    @cached_property
    def by_step(self) -> "pd.Series[float]":
        """The mean of the number over the rollouts of each step that has one, by step."""
        steps = Steps(self.run.frame["step"].to_numpy(np.int64))
        return pd.Series(steps.mean(self.values), index=steps.numbers).dropna()


def compared(runs: Sequence[Run], metric: str) -> tuple[ComparedRun, ...]:
    """The runs by a column of the frame, or by a metric's key that is the mean of one.

    Rollouts of training where all have them, else of evaluations, else of whatever each has first. Raises FieldMissing that names the run
    where it lacks the number.
    """
    shared = [split for split in _splits(runs[0]) if all(split in _splits(run) for run in runs)] if runs else []
    return tuple(of_split(run, next(iter(shared), _splits(run)[0]), metric) for run in runs)


def _splits(run: Run) -> Sequence[Split]:
    return run.splits or ("train",)


def of_split(run: Run, split: Split, metric: str) -> ComparedRun:
    """The rollouts of one split by a number, named as for `compared`. Raises FieldMissing that names the run where it lacks the number."""
    chosen = run.of_split(split)
    try:
        return ComparedRun(chosen, split, finite_values(chosen.frame, _column(chosen, metric)))
    except FieldMissing as error:
        raise FieldMissing(f"{run.name}: {error}") from error


def _column(run: Run, metric: str) -> str:
    """The column that a metric's mean is of; the name itself where it is a column, or known as nothing."""
    columns = run.frame.columns
    return metric if metric in columns else next((name for name in sorted(alike(metric)) if name in columns), metric)
