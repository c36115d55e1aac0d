"""Two runs compared by the distribution of a number and by the means of many.

Equal prompts are found by `shared_prompts`; the statistics are `distribution_shift`'s, intervals by bootstrap over prompts
(`board.analysis.stats.bootstrap`). Draws nothing.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.prompts.shared_prompts import shared_prompts
from board.analysis.stats.bootstrap import TAILS, PromptDraws
from board.analysis.steps.distribution_shift import DistributionShift, PromptValues, shift
from board.analysis.steps.step_stats import finite_values
from board.metrics.formulas import Float64Array
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run

MEANS: Final = ("number", "a", "b", "difference", "low", "high", "effect", "rollouts_a", "rollouts_b")
"""Columns of `mean_differences`, in order."""


def mean_differences(a: pd.DataFrame, b: pd.DataFrame, numbers: Sequence[str], draws: PromptDraws) -> pd.DataFrame:
    """A row for each of the columns `numbers` that both have some of, columns MEANS; those that lie furthest apart first.

    `draws` are of the rows of both, in their order. Difference is B minus A, with the ends of its 95 % interval, NaN where either run has
    the number of too few prompts. `effect` is the difference in standard deviations within a run (Cohen's d, of the mean of both
    variances), by which the rows are sorted whatever their units; NaN where nothing varies.
    """
    known = [name for name in numbers if all(name in one.columns and one[name].notna().any() for one in (a, b))]
    of_a, of_b = (_Sums(one[known].to_numpy(np.float64), block, draws) for one, block in ((a, draws.a), (b, draws.b)))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        difference = of_b.mean - of_a.mean
        ends = np.quantile(of_b.drawn - of_a.drawn, TAILS, axis=0) if known else np.empty((2, 0))
        ends = np.where(np.isfinite(ends).all(axis=0) & (np.minimum(of_a.blocks, of_b.blocks) > 1), ends, np.nan)
        spread = np.sqrt((of_a.variance + of_b.variance) / 2)
        effect = np.where(spread > 1e-12 * np.abs(of_a.mean), difference / spread, np.nan)
    found = {
        "number": known,
        "a": of_a.mean,
        "b": of_b.mean,
        "difference": difference,
        "low": ends[0],
        "high": ends[1],
        "effect": np.where(np.isfinite(effect), effect, np.nan),
        "rollouts_a": of_a.counts,
        "rollouts_b": of_b.counts,
    }
    frame = pd.DataFrame(found)[list(MEANS)]
    return frame.sort_values("effect", key=lambda one: -one.abs(), kind="stable", ignore_index=True)


class _Sums:
    """The c columns of one run, (rows, c): what is not finite is missing."""

    def __init__(self, values: Float64Array, block: NDArray[np.int64], draws: PromptDraws) -> None:
        finite = np.isfinite(values)
        held = np.where(finite, values, 0.0)
        sums, counts = np.zeros((2, draws.weights.shape[1], values.shape[1]))
        np.add.at(sums, block, held)
        np.add.at(counts, block, finite)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self.counts = finite.sum(axis=0)
            self.mean = held.sum(axis=0) / self.counts
            self.variance = np.where(finite, (held - self.mean) ** 2, 0.0).sum(axis=0) / self.counts
            self.drawn = (draws.weights @ sums) / (draws.weights @ counts)
        self.blocks = (counts > 0).sum(axis=0)


def run_shift(baseline: Run, other: Run, number: str) -> DistributionShift:
    """The shift of a column of the frame, over the rollouts that have it. Raises FieldMissing where either run lacks the column."""
    keys = shared_prompts(baseline, other)
    sides = []
    for run, prompts in ((baseline, keys.a), (other, keys.b)):
        values = finite_values(run.frame, number)
        known = np.isfinite(values)
        sides.append(PromptValues(values[known], prompts[known]))
    return shift(sides[0], sides[1], NO_PROMPT)


def run_means(a: Run, b: Run, numbers: Sequence[str]) -> pd.DataFrame:
    """The means of columns of both frames, as `mean_differences.mean_differences` has them."""
    keys = shared_prompts(a, b)
    return mean_differences(a.frame, b.frame, numbers, PromptDraws(keys.a, keys.b, NO_PROMPT))
