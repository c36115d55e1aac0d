"""Shift of a number's distribution between two runs: by quantile, of the mean, distance.

Arrays in, numbers and a small frame out, each with a 95 % interval by bootstrap over prompts (`board.analysis.stats.bootstrap`). Differences
are the other run's minus the baseline's.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.stats.bootstrap import COVERAGE, TAILS, PromptDraws
from board.analysis.steps.step_shift import wasserstein
from board.metrics.formulas import Float64Array

PERCENTS: Final = tuple(range(5, 100, 5))
"""The quantiles that are compared, in percent."""

MOST_PLACES: Final = 1_000
"""For resampling alone, more different values are put together by rank: a quantile of a resample errs by a thousandth of the rollouts."""

QUANTILES: Final = ("percent", "baseline", "other", "difference", "low", "high")
"""Columns of `DistributionShift.quantiles`, in order."""


@dataclass(frozen=True)
class PromptValues:
    """The rollouts of a run that have the number."""

    values: Float64Array
    """(n,), all finite."""
    prompts: NDArray[np.int64]
    """(n,): equal numbers are one prompt, in both runs that are compared."""


@dataclass(frozen=True)
class Estimate:
    """A number and the ends of its 95 % interval; NaN where it, or the interval, cannot be computed."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class DistributionShift:
    """How far the other run's distribution lies from the baseline's."""

    mean: Estimate
    quantiles: pd.DataFrame
    """A row for each of PERCENTS, columns QUANTILES; empty where either run has no number."""
    distance: Estimate
    """Wasserstein-1, in the number's unit: the area between both distribution functions."""
    prompts: tuple[int, int]
    """How many the baseline has, and the other."""
    shared: int
    """How many prompts are in both."""

    def quantile(self, percent: int) -> Estimate:
        """The difference at one of PERCENTS."""
        row = self.quantiles[self.quantiles["percent"] == percent]
        found = [float(row[name].iloc[0]) if len(row) else np.nan for name in ("difference", "low", "high")]
        return Estimate(found[0], found[1], found[2])


def shift(baseline: PromptValues, other: PromptValues, no_prompt: int) -> DistributionShift:
    """The shift of `other` against `baseline`. Intervals are NaN where either has fewer than two prompts.

    Quantiles are by the inverted distribution function, averaged where it is flat (definition 2 of Hyndman and Fan 1996); intervals of
    them and of the mean are percentiles. A distance is never below zero, and chance alone keeps it above: its interval is ± the 95 %
    quantile of ∫ |(F_b* − F_b) − (F_a* − F_a)| over resamples, which holds the true distance as often or oftener by the triangle
    inequality, and reaches zero where chance may give as much.
    """
    draws = PromptDraws(baseline.prompts, other.prompts, no_prompt)
    if not baseline.values.size or not other.values.size:
        nothing = Estimate(np.nan, np.nan, np.nan)
        return DistributionShift(
            nothing, pd.DataFrame(columns=list(QUANTILES), dtype=float), nothing, draws.prompts, draws.shared
        )
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = (_quantiles(side.values) for side in (baseline, other))
        drawn = _Drawn(baseline, other, draws) if draws.tell else None
        means = _percentiles(drawn.mean_differences()[:, None]) if drawn else np.full((2, 1), np.nan)
        ends = _percentiles(drawn.quantile_differences()) if drawn else np.full((2, len(PERCENTS)), np.nan)
        found = {"percent": PERCENTS, "baseline": a, "other": b, "difference": b - a, "low": ends[0], "high": ends[1]}
        mean = Estimate(float(other.values.mean() - baseline.values.mean()), float(means[0, 0]), float(means[1, 0]))
    far = wasserstein(baseline.values, other.values)
    half = drawn.distance_by_chance() if drawn else np.nan
    distance = Estimate(far, max(0.0, far - half) if np.isfinite(half) else np.nan, far + half)
    return DistributionShift(mean, pd.DataFrame(found)[list(QUANTILES)], distance, draws.prompts, draws.shared)


def _quantiles(values: Float64Array) -> Float64Array:
    rising, counted = np.sort(values), np.array(PERCENTS) * len(values)
    first, last = -(-counted // 100) - 1, np.minimum(counted // 100, len(values) - 1)
    found: Float64Array = rising[first] / 2 + rising[last] / 2
    return found


def _percentiles(drawn: Float64Array) -> Float64Array:
    """(2, k): the ends of the interval of each column of (RESAMPLES, k)."""
    ends: Float64Array = np.quantile(drawn, TAILS, axis=0)
    return np.where(np.isfinite(ends).all(axis=0), ends, np.nan)


class _Drawn:
    """Both samples as they are drawn: how many rollouts of a resample lie at each of some places."""

    def __init__(self, a: PromptValues, b: PromptValues, draws: PromptDraws) -> None:
        self._places, at = _ranked(np.concatenate([a.values, b.values]))
        blocks, size = draws.weights.shape[1], len(self._places.middle)
        self._counts, self._sums = [], []
        self._own = []
        for side, block, where in zip((a, b), (draws.a, draws.b), np.split(at, [len(a.values)]), strict=True):
            cells = np.bincount(block * size + where, minlength=blocks * size).reshape(blocks, size).astype(np.float64)
            self._counts.append(np.cumsum(draws.weights @ cells, axis=1))
            self._sums.append(draws.weights @ np.bincount(block, side.values, blocks))
            self._own.append(np.cumsum(cells.sum(axis=0)))

    def mean_differences(self) -> Float64Array:
        """(RESAMPLES,)"""
        a, b = (sums / counts[:, -1] for sums, counts in zip(self._sums, self._counts, strict=True))
        found: Float64Array = b - a
        return found

    def quantile_differences(self) -> Float64Array:
        """(RESAMPLES, percents)"""
        a, b = (np.column_stack([_read_off(counts, self._places, percent) for percent in PERCENTS]) for counts in self._counts)
        found: Float64Array = b - a
        return found

    def distance_by_chance(self) -> float:
        """The distance that resamples alone give, but in one of twenty."""
        (a, b), (own_a, own_b) = self._counts, self._own
        with np.errstate(over="ignore", invalid="ignore"):
            noise = (b / b[:, -1:] - own_b / own_b[-1]) - (a / a[:, -1:] - own_a / own_a[-1])
            areas = np.abs(noise[:, :-1]) @ np.diff(self._places.middle)
        return float(np.quantile(areas, COVERAGE)) if np.isfinite(areas).all() else np.nan


@dataclass(frozen=True)
class _Places:
    """At most MOST_PLACES places, rising, that values lie at: each a value, or a stretch of values that are neighbours by rank."""

    first: Float64Array
    last: Float64Array
    middle: Float64Array
    """The mean of the values there."""

    @property
    def exact(self) -> bool:
        """Whether each is one value."""
        return bool((self.first == self.last).all())


def _ranked(values: Float64Array) -> tuple[_Places, NDArray[np.int64]]:
    """The places, and which of them each value is at."""
    distinct, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) <= MOST_PLACES:
        return _Places(distinct, distinct, distinct), at.astype(np.int64)
    rank = np.cumsum(counts) - 1
    begins, bins = np.unique(rank * MOST_PLACES // len(values), return_index=True, return_inverse=True)[1:]
    ends = np.append(begins[1:], len(distinct)) - 1
    means = np.add.reduceat(distinct / len(values) * counts, begins) / np.add.reduceat(counts / len(values), begins)
    return _Places(distinct[begins], distinct[ends], means), bins[at].astype(np.int64)


def _read_off(counts: Float64Array, places: _Places, percent: int) -> Float64Array:
    """A quantile of each resample, (RESAMPLES,); `counts` (RESAMPLES, places) are at or below each place. Inside a stretch linearly."""
    rank = counts[:, -1] * percent / 100
    below = np.minimum((counts * 100 < counts[:, -1:] * percent).sum(axis=1), len(places.middle) - 1)
    if places.exact:
        up_to = np.minimum((counts * 100 <= counts[:, -1:] * percent).sum(axis=1), len(places.middle) - 1)
        found: Float64Array = places.middle[below] / 2 + places.middle[up_to] / 2
        return found
    rows = np.arange(len(counts))
    here, before = counts[rows, below], np.where(below > 0, counts[rows, below - 1], 0.0)
    share = np.clip((rank - before) / (here - before), 0, 1)
    read: Float64Array = places.first[below] * (1 - share) + places.last[below] * share
    return read
