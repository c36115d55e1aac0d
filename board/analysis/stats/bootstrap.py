"""Bootstrap over prompts: intervals of the mean of a step, and draws of the prompts of two runs at once.

Rollouts of one prompt are alike, so resampling rollouts would promise too much: whole prompts are drawn, with all their rollouts.
Cluster bootstrap with percentile intervals: Davison and Hinkley, Bootstrap Methods and their Application (1997), sections 3.8 and 5.3, of
two runs stratified (3.2); the same clusters stand behind the clustered standard errors of Miller, Adding Error Bars to Evals (arXiv
2411.00640).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array, FloatArray
from board.metrics.step_sums import Steps

RESAMPLES: Final = 1_000
COVERAGE: Final = 0.95

MOST_UNITS: Final = 250
"""The prompts of a step with more are assigned to this many blocks, which are drawn in their place.

The method of random groups (Wolter, Introduction to Variance Estimation, 2007, chapter 2): the width errs by some 4 % more, which is
what a thousand resamples err by in any case."""

TAILS: Final = ((1 - COVERAGE) / 2, (1 + COVERAGE) / 2)
"""The shares of resamples below either end of an interval."""

_AT_ONCE: Final = 4_000_000
"""At most this many means are held in memory at once."""

_SEED: Final = 0


@dataclass(frozen=True)
class PromptUnits:
    """The prompts of each step, which are drawn whole: found once for all numbers of the same rollouts."""

    steps: Steps
    of_rows: NDArray[np.int64]
    """Which unit each rollout is of. (rollouts,)"""
    step: NDArray[np.int64]
    """The place of each unit's step among the steps, not falling. (units,)"""


def prompt_units(steps: Steps, prompts: NDArray[np.int64]) -> PromptUnits:
    """The units of rollouts whose `prompts` (rollouts,) are equal numbers where they are equal; in the order of their first rollouts."""
    codes, there = pd.factorize(prompts)
    # in the order of their first rollouts, so step by step as these are: no sorting
    unit, firsts = pd.factorize(steps.row * max(1, len(there)) + codes)
    return PromptUnits(steps, unit.astype(np.int64), np.asarray(firsts, np.int64) // max(1, len(there)))


def mean_intervals(steps: Steps, values: FloatArray, prompts: NDArray[np.int64]) -> tuple[Float64Array, Float64Array]:
    """`unit_intervals` of rollouts whose `prompts` (rollouts,) are equal numbers where they are equal."""
    return unit_intervals(prompt_units(steps, prompts), values)


def unit_intervals(
    of: PromptUnits, values: FloatArray, resamples: int = RESAMPLES, weights: FloatArray | None = None
) -> tuple[Float64Array, Float64Array]:
    """Lower and upper end of the 95 % percentile interval of each step's mean over its finite `values` (rollouts,); each (steps,).

    A resample draws as many prompts as the step has, with replacement, and takes the mean of all their rollouts, by their `weights`
    (rollouts,) where given: of means over a rollout's tokens the mean over all tokens, with how many each has. NaN for a step with fewer
    than two prompts. The draws depend on the seed and the number of prompts alone, so that a step's interval is the same wherever it is
    shown.
    """
    sums, counts, first = _blocks(*_sums(of, values, weights))
    units = np.diff(first)
    low, high = (np.full(len(units), np.nan) for _ in range(2))
    for size in np.unique(units[units > 1]).tolist():
        drawn = _draws(size, resamples)
        alike = np.flatnonzero(units == size)
        for some in np.array_split(alike, -(-len(alike) * resamples // _AT_ONCE)):
            at = first[some][:, None] + np.arange(size)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                low[some], high[some] = np.quantile((sums[at] @ drawn.T) / (counts[at] @ drawn.T), TAILS, axis=1)
    known = np.isfinite(low) & np.isfinite(high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def units_of(prompts: NDArray[np.int64], no_prompt: int) -> NDArray[np.int64]:
    """Numbers that are equal for rollouts of one prompt, and of a rollout whose prompt is `no_prompt` its own. (rollouts,)"""
    units = pd.factorize(prompts)[0].astype(np.int64)
    without = np.flatnonzero(prompts == no_prompt)
    units[without] = -1 - np.arange(len(without))
    return units


def _sums(
    of: PromptUnits, values: FloatArray, weights: FloatArray | None
) -> tuple[Float64Array, Float64Array, NDArray[np.int64]]:
    """Sums and weights of the finite values of each unit that has any, step by step; the third array (steps + 1,) is where each begins."""
    known = np.isfinite(values) if weights is None else np.isfinite(values) & np.isfinite(weights) & (weights > 0)
    unit, numbers, of_each = of.of_rows, np.asarray(values, np.float64), weights
    if not known.all():
        unit, numbers, of_each = unit[known], numbers[known], None if weights is None else weights[known]
    rollouts = np.bincount(unit, minlength=len(of.step))
    sums = np.bincount(unit, numbers if of_each is None else numbers * of_each, len(of.step)).astype(np.float64)
    counts = (rollouts if of_each is None else np.bincount(unit, of_each, len(of.step))).astype(np.float64)
    there = rollouts > 0
    first = np.searchsorted(of.step[there], np.arange(len(of.steps.numbers) + 1))
    return sums[there], counts[there], first


def _blocks(
    sums: Float64Array, counts: Float64Array, first: NDArray[np.int64]
) -> tuple[Float64Array, Float64Array, NDArray[np.int64]]:
    """Sums and weights with the prompts of a step that has too many joined to blocks at random."""
    units = np.diff(first)
    if (units <= MOST_UNITS).all():
        return sums, counts, first
    step = np.repeat(np.arange(len(units)), units)
    place = np.random.default_rng(_SEED).permutation(len(sums))
    shuffled = np.lexsort([place, step])
    block = np.arange(len(sums)) - np.repeat(first[:-1], units)
    blocks = np.minimum(units, MOST_UNITS)
    starts = np.concatenate([[0], np.cumsum(blocks)])
    into = starts[step] + block % MOST_UNITS
    joined = [np.bincount(into, one[shuffled], int(starts[-1])).astype(np.float64) for one in (sums, counts)]
    return joined[0], joined[1], starts


@lru_cache(8)
def _draws(size: int, resamples: int) -> Float64Array:
    return drawn(np.random.default_rng([_SEED, size]), size, resamples)


def drawn(rng: np.random.Generator, units: int, resamples: int = RESAMPLES) -> Float64Array:
    """How often each of the units is drawn, (resamples, units); each row adds up to `units`."""
    places = rng.integers(0, max(1, units), (resamples, units)) + np.arange(resamples)[:, None] * units
    return np.bincount(places.ravel(), minlength=resamples * units).reshape(resamples, units).astype(np.float64)


IntArray = NDArray[np.int64]


class PromptDraws:
    """RESAMPLES draws of the prompts of two runs.

    A prompt that both runs saw is drawn for both, with all its rollouts of either, so that what it adds to either cancels in a difference;
    prompts of one run alone are drawn among themselves, as many as there are. Of more than MOST_UNITS prompts of a kind blocks of them
    are drawn in their place.
    """

    def __init__(self, prompts_a: IntArray, prompts_b: IntArray, no_prompt: int) -> None:
        """`prompts_a` (n,) and `prompts_b` (m,): equal numbers are one prompt; rollouts of `no_prompt` are each drawn by themselves."""
        units, names = pd.factorize(units_of(np.concatenate([prompts_a, prompts_b]), no_prompt))
        in_a, in_b = (np.bincount(of, minlength=len(names)) > 0 for of in np.split(units, [len(prompts_a)]))
        block = np.zeros(len(names), np.int64)
        weights: list[Float64Array] = []
        for kind, of_kind in enumerate((in_a & ~in_b, in_a & in_b, in_b & ~in_a)):
            there = np.flatnonzero(of_kind)
            blocks = min(len(there), MOST_UNITS)
            rng = np.random.default_rng([_SEED, kind, len(there)])
            block[rng.permutation(there)] = sum(one.shape[1] for one in weights) + np.arange(len(there)) % max(1, blocks)
            weights.append(drawn(rng, blocks))
        self.weights: Float64Array = np.concatenate(weights, axis=1)
        """(RESAMPLES, blocks): how often each block is drawn."""
        self.a, self.b = np.split(block[units], [len(prompts_a)])
        """(n,) and (m,): the block that each rollout is of."""
        self.prompts = int(in_a.sum()), int(in_b.sum())
        """How many prompts each run has, those without one counted by rollouts."""
        self.shared = int((in_a & in_b).sum())
        """How many of them both have."""

    @property
    def tell(self) -> bool:
        """Whether there are prompts enough for an interval: two of each run."""
        return min(self.prompts) > 1
