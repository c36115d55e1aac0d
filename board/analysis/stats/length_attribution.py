"""Length and reward: inside groups, over training, and of right and wrong responses."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.metrics.formulas import BoolArray, Float64Array
from board.metrics.step_sums import Steps

BUCKETS: Final = 10
"""Classes of length, each with as many responses."""


def within(values: Float64Array, groups: NDArray[np.int64]) -> Float64Array:
    """(n,) values minus the mean of their group; NaN where a value is missing, its group below 0, or no other of the group has one."""
    known = np.isfinite(values) & (groups >= 0)
    codes, size = groups[known], int(groups.max(initial=-1)) + 1
    counts = np.bincount(codes, minlength=size)
    means = np.bincount(codes, values[known], size) / np.maximum(counts, 1)
    centred = np.full(len(values), np.nan)
    centred[known] = np.where(counts[codes] > 1, values[known] - means[codes], np.nan)
    return centred


def correlation(one: Float64Array, other: Float64Array) -> float:
    """Pearson's correlation of two (n,) arrays that are centred already, over where both are finite; NaN where either does not vary.

    Of `within` both: how strongly longer responses earn more than others to the same prompt.
    """
    both = np.isfinite(one) & np.isfinite(other)
    x, y = one[both], other[both]
    if not len(x):
        return np.nan
    # scaled, so that no square overflows
    x, y = (v / scale if (scale := float(np.abs(v).max())) > 0 else v for v in (x, y))
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / spread if spread > 0 else np.nan


def coupling(steps: Steps, lengths: Float64Array, rewards: Float64Array, groups: NDArray[np.int64]) -> Float64Array:
    """Correlation of length and reward inside groups, by step, (k,); NaN where a step has no group in which both vary.

    `lengths`, `rewards` and `groups` are (n,); groups are numbers, no group of two steps the same, -1 for none.
    """
    x, y = within(lengths, groups), within(rewards, groups)
    both = np.isfinite(x) & np.isfinite(y)
    x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(steps.sum(x * x) * steps.sum(y * y))
        return np.where(spread > 0, steps.sum(x * y) / spread, np.nan)


def share_of_gain(lengths: Float64Array, rewards: Float64Array, early: BoolArray, late: BoolArray) -> float:
    """The share of the gain in reward that comes from responses being longer, all (n,); NaN where the mean reward does not rise.

    With responses in classes b of length, each with as many: sum over b of (share of the late in b - share of the early in b) x (mean reward
    of the early in b), over the late mean minus the early. Singhal et al. 2023, arXiv 2310.03716, find 0.7 to 0.9 in reward models' runs.
    A class without early responses is taken for what the nearest with some earns.
    """
    known = np.isfinite(lengths) & np.isfinite(rewards)
    before, after = known & early, known & late
    if not before.any() or not after.any():
        return np.nan
    gain = float(rewards[after].mean() - rewards[before].mean())
    if not gain > 0:
        return np.nan
    edges = np.unique(np.quantile(lengths[before | after], np.arange(1, BUCKETS) / BUCKETS))
    of = np.searchsorted(edges, lengths, "right")
    size = len(edges) + 1
    old, new = (np.bincount(of[rows], minlength=size) for rows in (before, after))
    filled = np.flatnonzero(old)
    nearest = filled[np.abs(np.arange(size)[:, np.newaxis] - filled).argmin(axis=1)]
    earned = (np.bincount(of[before], rewards[before], size) / np.maximum(old, 1))[nearest]
    return float(((new / new.sum() - old / old.sum()) * earned).sum() / gain)


def lengths_by_outcome(steps: Steps, lengths: Float64Array, rewards: Float64Array, threshold: float) -> pd.DataFrame:
    """Mean length of the right (reward at least the threshold) and of the wrong responses by step; index the step, NaN where there is none.

    Wrong ones that grow longer than right ones are what Dr. GRPO (arXiv 2503.20783) finds in GRPO's mean over tokens.
    """
    known = np.isfinite(rewards)
    right = np.where(known & (rewards >= threshold), lengths, np.nan)
    wrong = np.where(known & (rewards < threshold), lengths, np.nan)
    return pd.DataFrame({"right": steps.mean(right), "wrong": steps.mean(wrong)}, index=pd.Index(steps.numbers, name="step"))
