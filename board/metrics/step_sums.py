"""Sums over the rollouts and the tokens of each step.

Rollouts come in the order of their steps, as a run's frame has them. NaN and infinities are missing values: they enter nothing, and a step
without any finite value is NaN.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array, FloatArray, IntArray

_LARGE: Final = 1e75
"""Above it sums of cubes may be beyond what a float holds."""


@dataclass(frozen=True)
class Steps:
    """Which rollouts belong to which step."""

    of_rows: IntArray
    """(n,) steps of the rollouts, not falling."""

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """(k,) the steps there are, rising."""
        return np.unique(self.of_rows)

    @cached_property
    def row(self) -> NDArray[np.int64]:
        """(n,) which of `numbers` each rollout is of."""
        return np.searchsorted(self.numbers, self.of_rows)

    @cached_property
    def sizes(self) -> Float64Array:
        """(k,) rollouts of each step."""
        return np.bincount(self.row, minlength=len(self.numbers)).astype(np.float64)

    def count(self, values: FloatArray) -> Float64Array:
        """(k,) finite values of each step."""
        return np.bincount(self.row[np.isfinite(values)], minlength=len(self.numbers)).astype(np.float64)

    def sum(self, values: FloatArray) -> Float64Array:
        """(k,) sums of the finite values, NaN where there is none."""
        return self._sum_where(np.isfinite(values), np.asarray(values, np.float64))

    def _sum_where(self, known: NDArray[np.bool_], values: Float64Array) -> Float64Array:
        """(k,) sums of the known of (n,) values, NaN where there is none, infinite beyond what a float holds."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.bincount(self.row[known], values[known], len(self.numbers))
        return np.where(np.bincount(self.row[known], minlength=len(self.numbers)) > 0, total, np.nan)

    def mean(self, values: FloatArray) -> Float64Array:
        """(k,) means of the finite values."""
        return self.sum(values) / np.maximum(self.count(values), 1)

    def mean_square(self, values: FloatArray) -> Float64Array:
        """(k,) means of the squares of the finite values; infinite where a square is beyond what a float holds."""
        with np.errstate(over="ignore"):
            return self._power_mean(values, np.square(np.asarray(values, np.float64)))

    def variance(self, values: FloatArray) -> Float64Array:
        """(k,) variances of the finite values, of the population (ddof 0); infinite where one is beyond what a float holds."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._power_mean(values, np.square(values - self.mean(values)[self.row]))

    def std(self, values: FloatArray) -> Float64Array:
        """(k,) standard deviations of the finite values, of the population (ddof 0)."""
        scale = self._scale(values)
        return scale * np.sqrt(self.variance(values / scale[self.row]))

    def skewness(self, values: FloatArray) -> Float64Array:
        """(k,) third central moments over the standard deviations cubed (biased); NaN where all values are equal."""
        values = values / self._scale(values)[self.row]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            cubes = self.mean((values - self.mean(values)[self.row]) ** 3)
            return np.where(self.variance(values) > 0, cubes / self.std(values) ** 3, np.nan)

    def _power_mean(self, values: FloatArray, powers: Float64Array) -> Float64Array:
        """(k,) means of (n,) powers made of the finite values: one that overflowed is large, and not missing as an infinite value is."""
        return self._sum_where(np.isfinite(values), powers) / np.maximum(self.count(values), 1)

    def _scale(self, values: FloatArray) -> Float64Array:
        """(k,) what a step's values are divided by before powers are taken: 1, or the largest of them where its powers would overflow."""
        if not np.any(np.abs(values) > _LARGE):
            return np.ones(len(self.numbers))
        largest = self.max(np.abs(values))
        return np.where(largest > _LARGE, largest, 1.0)

    def max(self, values: FloatArray) -> Float64Array:
        """(k,) largest of the finite values."""
        top = np.full(len(self.numbers), -np.inf)
        known = np.isfinite(values)
        np.maximum.at(top, self.row[known], np.asarray(values, np.float64)[known])
        return np.where(np.isneginf(top), np.nan, top)

    def min(self, values: FloatArray) -> Float64Array:
        """(k,) smallest of the finite values."""
        return -self.max(-np.asarray(values, np.float64))

    def median(self, values: FloatArray) -> Float64Array:
        """(k,) medians of the finite values, between two of them the middle."""
        known = np.isfinite(values)
        rows, found = self.row[known], np.asarray(values, np.float64)[known]
        ordered = found[np.lexsort([found, rows])]
        counts = np.bincount(rows, minlength=len(self.numbers))
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        low, high = (np.minimum(starts + at, max(0, len(ordered) - 1)) for at in ((counts - 1) // 2, counts // 2))
        if not len(ordered):
            return np.full(len(self.numbers), np.nan)
        return np.where(counts > 0, (ordered[low] + ordered[high]) / 2, np.nan)


def token_mean(steps: Steps, counts: FloatArray, means: FloatArray) -> Float64Array:
    """(k,) mean over all tokens of each step, from (n,) counts and means of the rollouts."""
    weights = np.where(np.isfinite(means), counts, 0.0)  # a rollout without a finite mean weighs nothing
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return steps.sum(np.where(weights > 0, weights * means, np.nan)) / steps.sum(weights)


@dataclass(frozen=True)
class Pooled:
    """How the tokens of each step are spread, (k,) each; NaN for a step without a value."""

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


def pool(steps: Steps, counts: FloatArray, means: FloatArray, m2: FloatArray, m3: FloatArray) -> Pooled:
    """Tokens of the rollouts of each step taken together, each array (k,), from (n,) moments of the rollouts.

    With d the distance of a rollout's mean to the step's: M2 = sum of m2 + n d², M3 = sum of m3 + 3 d m2 + n d³ (Chan, Golub & LeVeque 1979,
    "Updating formulae and a pairwise algorithm for computing sample variances", and its third-order case); sums of squares would lose their
    digits.
    """
    mean = token_mean(steps, counts, means)
    with np.errstate(over="ignore", invalid="ignore"):
        away = means - mean[steps.row]
        return Pooled(
            count=steps.sum(np.where(np.isfinite(means), counts, np.nan)),
            mean=mean,
            m2=steps.sum(m2 + counts * np.square(away)),
            m3=steps.sum(m3 + 3 * away * m2 + counts * away**3),
        )
