"""How sure the mean of a step is: bootstrap over prompts. Arrays in, interval ends out; knows no frame, no run and no metric.

Rollouts of one prompt are alike, so resampling rollouts would promise too much: whole prompts are drawn, with all their rollouts.
Cluster bootstrap with percentile intervals: Davison and Hinkley, Bootstrap Methods and their Application (1997), sections 3.8 and 5.3;
the same clusters stand behind the clustered standard errors of Miller, Adding Error Bars to Evals (arXiv 2411.00640).
"""

from collections.abc import Sequence
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
"""Of a step with more prompts they are dealt into so many blocks, which are drawn in their place.

The method of random groups (Wolter, Introduction to Variance Estimation, 2007, chapter 2): the width errs by some 4 % more, which is
what a thousand resamples err by in any case."""

_TAILS: Final = ((1 - COVERAGE) / 2, (1 + COVERAGE) / 2)

_AT_ONCE: Final = 4_000_000
"""So many means are held in memory at once."""

_SEED: Final = 0

_FEW_UNITS: Final = 6
"""Of so many units few resamples differ: 35 of four, 126 of five, 462 of six."""


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


def mean_intervals(
    steps: Steps, values: FloatArray, prompts: NDArray[np.int64], resamples: int = RESAMPLES
) -> tuple[Float64Array, Float64Array]:
    """`unit_intervals` of rollouts whose `prompts` (rollouts,) are equal numbers where they are equal."""
    return unit_intervals(prompt_units(steps, prompts), values, resamples)


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
        drawn, times = _draws(size, resamples)
        alike = np.flatnonzero(units == size)
        for some in np.array_split(alike, -(-len(alike) * resamples // _AT_ONCE)):
            at = first[some][:, None] + np.arange(size)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                means = (sums[at] @ drawn.T) / _drawn_weights(counts[at], drawn)
                low[some], high[some] = _ends(means, times)
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
    """Sums and weights of the finite values of each unit that has any, step by step; the third array (steps + 1,) says where each begins."""
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
    """The same with the prompts of a step that has too many dealt into blocks at random."""
    units = np.diff(first)
    if (units <= MOST_UNITS).all():
        return sums, counts, first
    step = np.repeat(np.arange(len(units)), units)
    place = np.random.default_rng(_SEED).permutation(len(sums))
    dealt = np.lexsort([place, step])
    block = np.arange(len(sums)) - np.repeat(first[:-1], units)
    kept = np.minimum(units, MOST_UNITS)
    starts = np.concatenate([[0], np.cumsum(kept)])
    into = starts[step] + block % MOST_UNITS
    joined = [np.bincount(into, one[dealt], int(starts[-1])).astype(np.float64) for one in (sums, counts)]
    return joined[0], joined[1], starts


@lru_cache(8)
def _draws(size: int, resamples: int) -> tuple[Float64Array, NDArray[np.int64] | None]:
    """How often each of `size` units is drawn, (resamples, size); each row adds up to `size`.

    Of few units most resamples are alike: then each is there once, and the second array says how often it was drawn; None elsewhere.
    """
    drawn = np.random.default_rng([_SEED, size]).integers(0, size, (resamples, size))
    cells = (drawn + np.arange(resamples)[:, None] * size).ravel()
    each = np.bincount(cells, minlength=resamples * size).reshape(resamples, size).astype(np.float64)
    if size > _FEW_UNITS:
        return each, None
    different, times = np.unique(each, axis=0, return_counts=True)
    return different, times


def _drawn_weights(counts: Float64Array, drawn: Float64Array) -> Float64Array | float:
    """What the units of each resample weigh together, (steps, resamples): one number where all units weigh the same."""
    weight = float(counts.flat[0])
    if (counts == weight).all():
        return float(weight * counts.shape[1])
    weights: Float64Array = counts @ drawn.T
    return weights


def _ends(means: Float64Array, times: NDArray[np.int64] | None) -> tuple[Float64Array, Float64Array]:
    """The quantiles _TAILS of each row of `means` (steps, resamples), each of its columns as often as `times` says; `means` is reordered.

    Between two of them linearly, as `numpy.quantile`.
    """
    resamples = means.shape[1] if times is None else int(times.sum())
    ranks = [int(tail * (resamples - 1)) for tail in _TAILS]
    wanted = sorted({at for rank in ranks for at in (rank, min(rank + 1, resamples - 1))})
    unknown = np.isnan(means).any(axis=1)
    found = _at_ranks(means, wanted) if times is None else _at_ranks_of_repeated(means, times, wanted)
    ends = []
    for tail, rank in zip(_TAILS, ranks, strict=True):
        below, above = found[rank], found[min(rank + 1, resamples - 1)]
        between = below + (above - below) * (tail * (resamples - 1) - rank)
        ends.append(np.where(unknown, np.nan, between))
    return ends[0], ends[1]


def _at_ranks(means: Float64Array, wanted: Sequence[int]) -> dict[int, Float64Array]:
    """The values that stand at these places of each row, were it sorted."""
    means.partition(wanted, axis=1)
    return {rank: means[:, rank] for rank in wanted}


def _at_ranks_of_repeated(means: Float64Array, times: NDArray[np.int64], wanted: Sequence[int]) -> dict[int, Float64Array]:
    """The same where each column stands for so many."""
    order = np.argsort(means, axis=1)
    reached = np.cumsum(times[order], axis=1)
    rows = np.arange(len(means))
    return {rank: means[rows, order[rows, (reached <= rank).sum(axis=1)]] for rank in wanted}
