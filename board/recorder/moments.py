"""How one quantity is spread: a few numbers, however many values came. Knows nothing of rollouts, steps or files."""

import math
from dataclasses import dataclass

import numpy as np

from board.metrics import FloatArray


@dataclass
class Moments:
    """Count, mean, squared deviations and extremes of the finite values seen so far; the statistics are NaN where there were none."""

    count: int = 0
    _mean: float = 0.0
    _squares: float = 0.0
    _max: float = -math.inf
    _min: float = math.inf

    def add(self, values: FloatArray) -> None:
        """Take in values of any shape; those that are not finite do not enter.

        Merged as Chan, Golub and LeVeque do (1979, "Updating formulae and a pairwise algorithm for computing sample variances"), as
        sums of squares lose their digits.
        """
        finite = values[np.isfinite(values)]
        if not finite.size:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(finite.mean())
            squares = float(np.square(finite - mean).sum())
        together = self.count + finite.size
        apart = mean - self._mean
        self._mean += apart * finite.size / together
        self._squares += squares + apart * apart * self.count * finite.size / together
        self.count = together
        self._max, self._min = max(self._max, float(finite.max())), min(self._min, float(finite.min()))

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
