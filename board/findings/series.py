"""A number of the rollouts as a curve over steps, with how sure each point is. Arrays in, a curve out; knows no run and no metric.

Rollouts of one prompt are alike, so the standard error is clustered by prompt (Miller, arXiv 2411.00640, equation 4): the sum over prompts of
the squared sum of their deviations. It costs a pass where a bootstrap would cost a thousand.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from board.findings.change_points import Turn, turn
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps


@dataclass(frozen=True)
class Series:
    """A curve over the k steps of a run."""

    steps: NDArray[np.int64]
    """(k,) rising."""
    mean: Float64Array
    """(k,) NaN where no rollout has the number."""
    error: Float64Array
    """(k,) standard error of the mean; NaN where fewer than two prompts tell."""
    count: Float64Array
    """(k,) rollouts that have the number."""

    def turn(self, floor: float = 0.0) -> Turn | None:
        """Where it turns; see `change_points.turn`."""
        return turn(self.steps, self.mean, self.error, floor)


@dataclass(frozen=True)
class Clusters:
    """The rollouts of a prompt in a step, which are alike: c of them."""

    of_rows: NDArray[np.int64]
    """(n,) the cluster of each rollout."""
    steps: NDArray[np.int64]
    """(c,) which step each is of."""
    sizes: NDArray[np.int64]
    """(c,) rollouts of each."""


def clusters(steps: Steps, prompts: NDArray[np.int64]) -> Clusters:
    """The clusters of (n,) rollouts; equal numbers are equal prompts."""
    span = np.int64(prompts.max(initial=0)) - np.int64(prompts.min(initial=0)) + 1
    codes = steps.row * span + (prompts - prompts.min(initial=0))
    found, of_rows, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    return Clusters(of_rows.ravel().astype(np.int64), found // span, sizes)


def series(steps: Steps, values: Float64Array, clustered: Clusters) -> Series:
    """The mean of (n,) `values` by step, NaN ones left out."""
    mean, count = steps.mean(values), steps.count(values)
    known = np.flatnonzero(np.isfinite(values))
    units, size = clustered.of_rows[known], len(clustered.steps)
    sums = np.bincount(units, values[known] - mean[steps.row[known]], size)
    there = np.bincount(units, minlength=size) > 0
    number = np.bincount(clustered.steps[there], minlength=len(steps.numbers)).astype(np.float64)
    squares = np.bincount(clustered.steps, np.square(sums), len(steps.numbers))
    with np.errstate(invalid="ignore", divide="ignore"):
        # number / (number - 1): few prompts spread less around their own mean than around the true one
        error = np.sqrt(squares * number / (number - 1)) / count
    return Series(steps.numbers, mean, np.where(number > 1, error, np.nan), count)
