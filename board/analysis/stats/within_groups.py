"""Rewards within groups: high and low sides, and the worth of something in a response.

A prompt's topic cancels, as all of a group share it. Arrays in, numbers out.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array

_ROUNDING: Final = 1e-9
"""A spread this small relative to the rewards is the rounding error of equal ones."""


@dataclass(frozen=True)
class Sides:
    """The high and the low side of the groups of n rollouts."""

    high: Float64Array
    """(n,): 1 / h for each of the h rollouts above their group's mean; 0 for others, and where the group lacks a side."""
    low: Float64Array
    """(n,): 1 / l for each of the l below it, likewise."""
    weights: Float64Array
    """(n,): min(h, l), what the rollout's group weighs."""

    @property
    def groups(self) -> float:
        """How many groups have both sides."""
        return float(self.high.sum())


def sides(groups: NDArray[np.int64], rewards: Float64Array) -> Sides:
    """The two sides of every group. `groups` (n,) numbers them from 0, -1 for none; `rewards` (n,), what is not finite is on neither side."""
    known = (groups >= 0) & np.isfinite(rewards)
    of = groups[known]
    number = int(groups.max(initial=-1)) + 1
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.bincount(of, rewards[known], number) / np.maximum(np.bincount(of, minlength=number), 1)
        off = rewards[known] - means[of]
        tiny = _ROUNDING * np.maximum(np.abs(means[of]), np.abs(rewards[known]))  # what rounding leaves of equal rewards
    above, below = off > tiny, off < -tiny
    counts = [np.bincount(of, one, number) for one in (above, below)]
    smaller = np.minimum(*counts)
    found = []
    for side, count in zip((above, below), counts, strict=True):
        shares = np.zeros(len(groups))
        shares[known] = np.where(side & (smaller[of] > 0), 1 / np.maximum(count[of], 1), 0.0)
        found.append(shares)
    return Sides(found[0], found[1], np.where(groups >= 0, smaller[groups] if number else 0.0, 0.0))


def stretches(groups: NDArray[np.int64], things: NDArray[np.int64], rollouts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where another thing or another group begins in pairs that say which thing which rollout has.

    They are ordered by thing and then by the rollout's group, (p,) each.
    """
    of = groups[rollouts]
    begins = np.ones(len(of), np.bool_)
    begins[1:] = (things[1:] != things[:-1]) | (of[1:] != of[:-1])
    return np.flatnonzero(begins)


def discordant(
    found: Sides, begins: NDArray[np.int64], things: NDArray[np.int64], rollouts: NDArray[np.integer], number: int
) -> tuple[Float64Array, Float64Array]:
    """For each of `number` things, how much high sides alone have it, and how much low sides alone; (number,) each.

    Which thing which rollout has is given by pairs and their `stretches`. With the shares p of a group's high side and q of its low side
    that have it, it adds min(h, l) · p (1 − q) to the first and min(h, l) · q (1 − p) to the second: in groups of two these are McNemar's
    discordant pairs. A thing that all of a group have adds nothing, so topics cancel.
    """
    if not len(begins):
        return np.zeros(number), np.zeros(number)
    p, q = (np.add.reduceat(side[rollouts], begins) for side in (found.high, found.low))
    weights, thing = found.weights[rollouts[begins]], things[begins]
    high, low = (np.bincount(thing, weights * one * (1 - other), number) for one, other in ((p, q), (q, p)))
    return high.astype(np.float64), low.astype(np.float64)


@dataclass(frozen=True)
class Worth:
    """What rollouts with something earn compared with those of their own group without it."""

    with_it: float
    """Mean reward with it, over groups that have both; NaN where none has."""
    without: float
    error: float
    """Standard error of their difference, groups drawn anew; NaN of fewer than two."""
    groups: int
    """Groups that have both."""

    @property
    def gain(self) -> float:
        """with_it − without."""
        found = self.with_it - self.without
        return 0.0 if abs(found) < _ROUNDING * max(abs(self.with_it), abs(self.without)) else found

    @property
    def sure(self) -> bool:
        """Whether the difference is beyond two standard errors."""
        return bool(abs(self.gain) > 2 * self.error) if np.isfinite(self.error) else False


class Worths:
    """Rewards within groups, summed up once for many queries."""

    def __init__(self, groups: NDArray[np.int64], rewards: Float64Array) -> None:
        """As `sides` takes them."""
        known = (groups >= 0) & np.isfinite(rewards)
        self._groups = np.where(known, groups, -1)
        self._rewards = np.where(known, rewards, 0.0)
        self._number = int(groups.max(initial=-1)) + 1
        self._counts, self._sums = self._add(np.flatnonzero(known))

    def _add(self, rows: NDArray[np.int64]) -> tuple[Float64Array, Float64Array]:
        of = self._groups[rows]
        counts = np.bincount(of, minlength=self._number).astype(np.float64)
        return counts, np.bincount(of, self._rewards[rows], self._number).astype(np.float64)

    def of(self, rows: NDArray[np.integer]) -> Worth:
        """What the rollouts `rows`, each named once, earn compared with the others of their groups.

        Groups are weighted: n₁n₀ / (n₁ + n₀) with n₁ rollouts with it and n₀ without, which is least squares with a constant per group.
        """
        rows = np.asarray(rows, np.int64)
        counts, sums = self._add(rows[self._groups[rows] >= 0])
        others = self._counts - counts
        both = np.flatnonzero((counts > 0) & (others > 0))
        if not len(both):
            return Worth(np.nan, np.nan, np.nan, 0)
        held, left = counts[both], others[both]
        with_it, without = sums[both] / held, (self._sums[both] - sums[both]) / left
        weights = held * left / (held + left)
        weights /= weights.sum()
        means = float(weights @ with_it), float(weights @ without)
        off = weights * (with_it - without - (means[0] - means[1]))
        error = float(np.sqrt((off**2).sum() * len(both) / (len(both) - 1))) if len(both) > 1 else np.nan
        return Worth(*means, error, len(both))
