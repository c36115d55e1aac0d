"""How several quantities are spread: a few numbers of each, however many values came. Knows nothing of rollouts, steps or files."""

from dataclasses import dataclass

import numpy as np

from board.metrics.formulas import Float64Array, FloatArray
from board.metrics.pooling import Pooled, pool


@dataclass(frozen=True)
class Parts:
    """What is known of n sets of values of k quantities, each array (n, k); a set without a value has a count of 0 and a mean of NaN."""

    spread: Pooled
    max: FloatArray
    min: FloatArray


def single(values: Float64Array) -> Parts:
    """Values, shape (n, k), each as a part of its own; those that are not finite do not enter."""
    known = np.where(np.isfinite(values), values, np.nan)
    none = np.zeros(values.shape)
    return Parts(Pooled(np.isfinite(values).astype(np.float64), known, none, none), known, known)


class RunningStats:
    """Count, mean, variance, skewness and extremes of the finite values of k quantities seen so far, each (k,); NaN where there were none."""

    def __init__(self, quantities: int) -> None:
        unknown = np.full(quantities, np.nan)
        self._spread = Pooled(np.zeros(quantities), unknown, unknown, unknown)
        self._max = unknown
        self._min = unknown

    def merge(self, parts: Parts) -> None:
        """Take in parts."""
        new, old = parts.spread, self._spread
        stacked = Pooled(*(np.vstack([getattr(old, name), getattr(new, name)]) for name in ("count", "mean", "m2", "m3")))
        with np.errstate(all="ignore"):
            self._spread = pool(stacked, _column_sums, lambda of_wholes: of_wholes)
        self._max = np.fmax.reduce(np.vstack([self._max, parts.max]))
        self._min = np.fmin.reduce(np.vstack([self._min, parts.min]))

    def statistic(self, name: str) -> Float64Array:
        """One of "count", "mean", "sum", "std", "variance", "mean_square", "skewness", "max" and "min", shape (k,)."""
        if name in ("max", "min"):
            return self._max if name == "max" else self._min
        with np.errstate(all="ignore"):
            return np.asarray(getattr(self._spread, name))


def _column_sums(values: Float64Array) -> Float64Array:
    known = np.isfinite(values)
    return np.where(known.any(axis=0), np.where(known, values, 0.0).sum(axis=0), np.nan)
