"""A run's steps as a table: columns, order, and intervals of the mean reward."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.selection import page
from board.analysis.stats.bootstrap import mean_intervals, units_of
from board.analysis.steps.highlights import Highlight
from board.analysis.steps.step_metrics import computable
from board.analysis.steps.step_stats import finite_values
from board.metrics.declared import METRICS
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run

HEADS: Final = {
    "counts/rollouts": "rollouts",
    "reward/mean": "reward",
    "reward/gap_mean": "reward gap",
    "reward/validation_mean": "validation",
    "length/mean": "length",
    "length/chars_mean": "characters",
    "length/truncated_share": "truncated",
    "kl/k3_mean": "KL k3",
    "policy/entropy_mean": "entropy",
    "groups/zero_std_share": "zero-variance groups",
    "mismatch/k3": "mismatch k3",
    "mismatch/abs_max": "mismatch, largest",
    "critic/explained_variance": "explained variance",
    "update/clip_share": "clipped",
}
"""What is shown of a step unasked, where the run has it, and the head it stands under."""

REWARD: Final = "reward/mean"

_INSTEAD: Final = {"length/chars_mean": "length/mean"}
"""Shown only where the run lacks the other."""


def shown_keys(run: Run) -> list[str]:
    """Keys of what the table shows unasked, in its order."""
    there = set(computable(run))
    return [key for key in HEADS if key in there and _INSTEAD.get(key) not in there]


def head(key: str) -> str:
    """What a column is called: a few words for the usual ones, the metric's key for others."""
    return HEADS.get(key, key)


def explained(key: str) -> str:
    """A metric in one sentence and its formula; empty for what the catalogue does not know."""
    metric = METRICS.get(key)
    return f"{metric.meaning.en} {metric.formula}" if metric else ""


def ordered(values: pd.DataFrame, by: str, *, descending: bool) -> NDArray[np.int64]:
    """The steps in the order of a column of `values` (index step, rising), or of themselves for any other name.

    Missing numbers come last either way, ties in the order of steps.
    """
    steps = values.index.to_numpy(np.int64)
    if by not in values:
        return steps[::-1] if descending else steps
    sort = values[by].to_numpy(np.float64)
    return steps[np.argsort(-sort if descending else sort, kind="stable")]


def page_of(order: NDArray[np.int64], step: int, size: int) -> int:
    """The page (from 1) that a step stands on; the first where it is none of them."""
    found = np.flatnonzero(order == step)
    return int(found[0]) // size + 1 if len(found) else 1


@dataclass(frozen=True)
class Rows:
    """Some steps of the table, in its order."""

    steps: NDArray[np.int64]
    values: pd.DataFrame
    """A row per step, a float64 column per key; NaN where a step lacks the number."""
    low: Float64Array
    """Ends of the interval of the mean reward, NaN where there is none."""
    high: Float64Array
    seen: list[str]
    """What stands out in each step, in our own words; empty where nothing does."""


def rows(
    run: Run, values: pd.DataFrame, order: NDArray[np.int64], number: int, size: int, highlights: Sequence[Highlight]
) -> Rows:
    """The rows of one page (from 1) of the table, with intervals of the mean reward, which are computed for these steps alone."""
    steps = page(order, number, size)
    low, high = reward_intervals(run, steps)
    texts: dict[int, list[str]] = {}
    for highlight in sorted(highlights, key=lambda one: one.kind != "warning"):
        texts.setdefault(highlight.step, []).append(highlight.text)
    return Rows(steps, values.loc[steps], low, high, ["; ".join(texts.get(step, [])) for step in steps.tolist()])


def reward_intervals(run: Run, steps: NDArray[np.int64]) -> tuple[Float64Array, Float64Array]:
    """Ends of the 95 % interval of the mean reward of these steps, by bootstrap over prompts; each (steps,), NaN where there is none."""
    if "reward" not in run.frame.columns:
        return np.full(len(steps), np.nan), np.full(len(steps), np.nan)
    chosen = _rows_of(run.frame["step"].to_numpy(np.int64), steps)
    of_rows = Steps(run.frame["step"].to_numpy(np.int64)[chosen])
    rewards = finite_values(run.frame[["reward"]].iloc[chosen], "reward")
    low, high = mean_intervals(of_rows, rewards, units_of(run.prompt_keys[chosen], NO_PROMPT))
    at = np.searchsorted(of_rows.numbers, steps)
    return low[at], high[at]


def _rows_of(of_rows: NDArray[np.int64], steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places (rising) of the rows of these steps, all of which are there; `of_rows` (rollouts,) does not fall."""
    rising = np.sort(steps)
    first, behind = np.searchsorted(of_rows, rising), np.searchsorted(of_rows, rising, side="right")
    counts = behind - first
    return np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
