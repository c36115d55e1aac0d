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
        sound = np.isfinite(values)
        finite = values if sound.all() else values[sound]
        if not finite.size:
            return
        with np.errstate(all="ignore"):
            mean = float(finite.sum()) / finite.size
            apart = (finite - mean).ravel()
            squares = float(apart @ apart)
        self._merge(finite.size, mean, squares, float(finite.max()), float(finite.min()))

    def add_one(self, value: float) -> None:
        """Take in one value, unless it is not finite."""
        if math.isfinite(value):
            self._merge(1, value, 0.0, value, value)

    def _merge(self, count: int, mean: float, squares: float, largest: float, smallest: float) -> None:
        together = self.count + count
        apart = mean - self._mean
        self._mean += apart * count / together
        self._squares += squares + apart * apart * self.count * count / together
        self.count = together
        self._max, self._min = max(self._max, largest), min(self._min, smallest)

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
