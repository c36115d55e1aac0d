"""How one quantity is spread: a few numbers, however many values came. Knows nothing of rollouts, steps or files."""

import math
from dataclasses import dataclass

import numpy as np

from board.metrics.formulas import Float64Array


@dataclass
class Spread:
    """Count, mean, squared deviations and extremes of the finite values seen so far; the statistics are NaN where there were none.

    Merged as Chan, Golub and LeVeque do (1979, "Updating formulae and a pairwise algorithm for computing sample variances"), as sums of
    squares lose their digits.
    """

    count: float = 0.0
    _mean: float = 0.0
    _squares: float = 0.0
    _max: float = -math.inf
    _min: float = math.inf

    def add(self, values: Float64Array) -> None:
        """Take in values, shape (n,); those that are not finite do not enter."""
        finite = values[np.isfinite(values)]
        self.merge(np.ones(finite.size), finite, np.zeros(finite.size), finite, finite)

    def merge(
        self, count: Float64Array, mean: Float64Array, squares: Float64Array, largest: Float64Array, smallest: Float64Array
    ) -> None:
        """Take in values of which n parts are known, each array of shape (n,): how many, their mean, the sum of squares around it, extremes.

        Parts of no value may have any numbers.
        """
        filled = count > 0
        if not filled.any():
            return
        counts = np.append(count[filled], self.count)
        means = np.append(mean[filled], self._mean)
        with np.errstate(all="ignore"):
            total = float(counts.sum())
            middle = float(counts @ means) / total
            apart = means - middle
            self._squares += float(squares[filled].sum()) + float(counts @ np.square(apart))
        self.count, self._mean = total, middle
        self._max = max(self._max, float(largest[filled].max()))
        self._min = min(self._min, float(smallest[filled].min()))

    @property
    def mean(self) -> float:
        """Arithmetic mean."""
        return self._mean if self.count else math.nan

    @property
    def sum(self) -> float:
        """Total."""
        return self.mean * self.count

    @property
    def variance(self) -> float:
        """Of the population: squared deviations over their number."""
        return self._squares / self.count if self.count else math.nan

    @property
    def square(self) -> float:
        """Mean of the squares."""
        return self.variance + self.mean * self.mean

    @property
    def std(self) -> float:
        """Root of the variance."""
        return math.sqrt(self.variance)

    @property
    def max(self) -> float:
        """Largest."""
        return self._max if self.count else math.nan

    @property
    def min(self) -> float:
        """Smallest."""
        return self._min if self.count else math.nan
