"""Two steps of a run compared: shift of a number's distribution with a permutation test, and the prompts that moved most.

The statistics are of arrays from which the caller has left out missing values (NaN, infinities).
"""

from dataclasses import dataclass
from math import comb
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.selection import of_step
from board.analysis.steps.step_stats import finite_values
from board.metrics.formulas import Float64Array
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run

PERMUTATIONS: Final = 999
LEAST_PERMUTATIONS: Final = 99

_WORK: Final = 20_000_000
"""Values that are shuffled altogether: of very many there are fewer permutations."""

_SEED: Final = 0

_FEW_UNITS: Final = 20
"""Of no more units it is counted in how many ways they could lie."""


def wasserstein(a: Float64Array, b: Float64Array) -> float:
    """Wasserstein-1 distance of two samples, the area between their distribution functions, in the values' unit. NaN where one is empty.

    ∫ |F_a(x) − F_b(x)| dx (Vallender 1973).
    """
    if not a.size or not b.size:
        return np.nan
    values = np.sort(np.concatenate([a, b]))
    below_a, below_b = (np.searchsorted(np.sort(one), values, side="right") / one.size for one in (a, b))
    with np.errstate(over="ignore"):
        return float(np.sum(np.abs(below_b - below_a)[:-1] * np.diff(values)))


def quantile_shift(a: Float64Array, b: Float64Array) -> pd.DataFrame:
    """How far the quantiles of `b` lie above those of `a`, Doksum's shift function (1974): columns `percent`, `difference`, `low`, `high`.

    Every hundredth, of fewer than 100 values every twentieth; between two values linearly. No interval is known: its ends are NaN. Empty where
    a sample is.
    """
    parts = 100 if min(a.size, b.size) >= 100 else 20
    shares = np.arange(1, parts if a.size and b.size else 1) / parts
    with np.errstate(over="ignore"):
        difference = np.quantile(b, shares) - np.quantile(a, shares) if shares.size else shares
    return pd.DataFrame({"percent": 100 * shares, "difference": difference, "low": np.nan, "high": np.nan})


@dataclass(frozen=True)
class PermutationTest:
    """The Kolmogorov–Smirnov statistic, and how often chance alone gives as large a one."""

    statistic: float
    p: float
    """(1 + permutations with as large a statistic) / (1 + permutations), as Phipson and Smyth (2010) advise; NaN where there is none."""
    permutations: int
    units: tuple[int, int]
    """How many prompts, or rollouts, A and B have."""
    whole_prompts: bool
    """Whether prompts were permuted, with all their rollouts, or single rollouts."""
    least: float
    """No p of so few units can be smaller."""


def permutation_test(
    a: Float64Array, b: Float64Array, prompts_a: NDArray[np.int64], prompts_b: NDArray[np.int64]
) -> PermutationTest:
    """Whether A and B differ by more than chance. `prompts_a` and `prompts_b` are as long as `a` and `b`: equal numbers are one prompt.

    Where a step has several rollouts of a prompt, whole prompts are permuted between A and B, as many to each as they have: rollouts of one
    prompt are alike, and would make any difference look sure. The prompts of A and of B are taken apart, even where they are the same.
    Seeded. The statistic and p are NaN where a sample is empty.
    """
    ids_a, ids_b = (pd.factorize(one)[0] for one in (prompts_a, prompts_b))
    count_a, count_b = (int(one.max(initial=-1)) + 1 for one in (ids_a, ids_b))
    units, whole = (count_a, count_b), count_a + count_b < a.size + b.size
    total = count_a + count_b
    least = 1 / comb(total, count_a) if 0 < total <= _FEW_UNITS else 0.0
    if not a.size or not b.size:
        return PermutationTest(np.nan, np.nan, 0, units, whole, least)
    times = int(np.clip(_WORK // (a.size + b.size), LEAST_PERMUTATIONS, PERMUTATIONS))
    values = np.concatenate([a, b])
    order = np.argsort(values, kind="stable")
    unit = np.concatenate([ids_a, ids_b + count_a])[order]
    ends = np.flatnonzero(np.append(np.diff(values[order]) > 0, True))
    is_a = np.repeat([True, False], units)
    observed = _statistic(is_a[unit], ends)
    rng = np.random.default_rng(_SEED)
    as_large = sum(_statistic(rng.permutation(is_a)[unit], ends) >= observed - 1e-12 for _ in range(times))
    return PermutationTest(observed, (1 + as_large) / (1 + times), times, units, whole, max(least, 1 / (1 + times)))


def _statistic(in_a: NDArray[np.bool_], ends: NDArray[np.int64]) -> float:
    """The statistic of values in order, of which some are of A; `ends` are the places of the last of equal ones."""
    below_a = np.cumsum(in_a)
    count_a, count = int(below_a[-1]), in_a.size
    return float(np.abs(below_a[ends] / count_a - (ends + 1 - below_a[ends]) / (count - count_a)).max())


MOVED: Final = ("prompt", "rollouts_a", "rollouts_b", "mean_a", "mean_b", "change")
"""Columns of `moved_prompts`, in order."""


def moved_prompts(
    a: Float64Array, b: Float64Array, prompts_a: NDArray[np.int64], prompts_b: NDArray[np.int64], no_prompt: int
) -> pd.DataFrame:
    """The prompts that are in both A and B, those whose mean moved most first: columns MOVED, a row per prompt.

    Arguments as for `permutation_test`; rollouts of `no_prompt` are left out. Equal changes stand in the order of prompts' keys.
    """
    of_a, of_b = (
        pd.Series(values).groupby(prompts).agg(["size", "mean"]) for values, prompts in ((a, prompts_a), (b, prompts_b))
    )
    both = pd.merge(of_a, of_b, left_index=True, right_index=True, suffixes=("_a", "_b")).drop(index=no_prompt, errors="ignore")
    both = both.rename_axis("prompt").reset_index()
    both = both.rename(columns={"size_a": "rollouts_a", "size_b": "rollouts_b"})
    both["change"] = both["mean_b"] - both["mean_a"]
    return both.sort_values("change", key=lambda change: -change.abs(), kind="stable", ignore_index=True)[list(MOVED)]


@dataclass(frozen=True)
class Side:
    """The rollouts of one step that have the number."""

    step: int
    keys: NDArray[np.int64]
    values: Float64Array
    prompts: NDArray[np.int64]


@dataclass(frozen=True)
class Shift:
    """A number compared between the two steps."""

    a: Side
    b: Side
    distance: float
    test: PermutationTest
    moved: pd.DataFrame


def compare(run: Run, number: str, against: int, step: int) -> Shift:
    """Both steps by this number. Raises FieldMissing where the run lacks it."""
    a, b = (_side(run, number, one) for one in (against, step))
    own = [np.where(side.prompts == NO_PROMPT, -1 - np.arange(side.prompts.size), side.prompts) for side in (a, b)]
    test = permutation_test(a.values, b.values, *own)
    moved = moved_prompts(a.values, b.values, a.prompts, b.prompts, NO_PROMPT)
    return Shift(a, b, wasserstein(a.values, b.values), test, moved)


def _side(run: Run, number: str, step: int) -> Side:
    steps = run.frame["step"].to_numpy()
    first = int(np.searchsorted(steps, step))
    rows = of_step(run.frame, step)
    values = finite_values(rows, number)
    known = np.isfinite(values)
    prompts = run.prompt_keys[first : first + len(rows)]
    return Side(step, rows.index.to_numpy()[known], values[known], prompts[known])


def typical(side: Side, prompt: int) -> int:
    """The key of the prompt's rollout whose number is nearest to the mean of them all."""
    of_prompt = np.flatnonzero(side.prompts == prompt)
    values = side.values[of_prompt]
    return int(side.keys[of_prompt[np.abs(values - values.mean()).argmin()]])
