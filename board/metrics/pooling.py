"""Pooled mean, variance and skewness from those of parts.

With d the distance of a part's mean to the whole's: M2 = sum of m2 + n d², M3 = sum of m3 + 3 d m2 + n d³ (Chan, Golub & LeVeque 1979,
"Updating formulae and a pairwise algorithm for computing sample variances", and its third-order case); sums of squares would lose their
digits. Arrays in, arrays out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from board.metrics.formulas import Float64Array, FloatArray

Total = Callable[[Float64Array], Float64Array]
"""From a number of each part to its sum over the parts of each whole: of the finite ones, NaN where there is none."""


@dataclass(frozen=True)
class Pooled:
    """How sets of values are spread, an array of one shape for each number; NaN for a set without a value."""

    count: FloatArray
    mean: FloatArray
    m2: FloatArray
    """Sum of squares around the mean."""
    m3: FloatArray
    """Sum of cubes around the mean."""

    @property
    def sum(self) -> Float64Array:
        """Total."""
        return self.count * self.mean

    @property
    def variance(self) -> Float64Array:
        """Of the population (ddof 0)."""
        return self.m2 / self.count

    @property
    def std(self) -> Float64Array:
        """Root of the variance."""
        return np.sqrt(self.variance)

    @property
    def mean_square(self) -> Float64Array:
        """Mean of the squares."""
        return self.variance + np.square(self.mean)

    @property
    def skewness(self) -> Float64Array:
        """Third central moment over the standard deviation cubed (Fisher-Pearson, biased); NaN where all values are equal."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(self.m2 > 0, (self.m3 / self.count) / self.variance**1.5, np.nan)


def pooled_mean(counts: FloatArray, means: FloatArray, total: Total) -> Float64Array:
    """Means of the wholes, from counts and means of their parts; a part without a finite mean weighs nothing."""
    weights = np.where(np.isfinite(means), counts, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return total(np.where(weights > 0, weights * means, np.nan)) / total(weights)


def pool(parts: Pooled, total: Total, whole_of: Callable[[Float64Array], Float64Array]) -> Pooled:
    """The wholes that parts make; `whole_of` gives each part the number of its whole."""
    mean = pooled_mean(parts.count, parts.mean, total)
    with np.errstate(over="ignore", invalid="ignore"):
        away = parts.mean - whole_of(mean)
        return Pooled(
            count=total(np.where(np.isfinite(parts.mean), parts.count, np.nan)),
            mean=mean,
            m2=total(parts.m2 + parts.count * np.square(away)),
            m3=total(parts.m3 + 3 * away * parts.m2 + parts.count * away**3),
        )
