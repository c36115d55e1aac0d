"""Advantage rules of GRPO and its relatives, and how near logged advantages are.

Arrays in, arrays out. Rollouts come group by group, groups step by step, as `board.analysis.rollouts.groups.find` lays them out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array

EPSILON: Final = 1e-6
"""Added to a standard deviation before anything is divided by it, as verl does; TRL adds 1e-4."""
ABSOLUTE: Final = 2e-3
RELATIVE: Final = 1e-2
"""A logged advantage fits a rule within this much and this share of the rule's value: bfloat16, or another epsilon, is not another rule."""


@dataclass(frozen=True)
class GroupedRewards:
    """Rewards (m,), NaN where missing, and where the g groups and the s steps begin among them: (g + 1,) and (s + 1,), rising."""

    rewards: Float64Array
    groups: NDArray[np.int64]
    steps: NDArray[np.int64]

    def less_mean(self) -> Float64Array:
        """(m,) R − μ of its group."""
        return self.rewards - _mean(self.rewards, self.groups)

    def std(self, bounds: NDArray[np.int64], values: Float64Array, free: int) -> Float64Array:
        """(m,) standard deviation of `values` over its group or step, divided by n − `free`; NaN where that is not positive."""
        off = np.square(values - _mean(values, bounds))
        degrees = _count(values, bounds) - free
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(np.where(degrees > 0, _sum(off, bounds) / degrees, np.nan))


@dataclass(frozen=True)
class AdvantageRule:
    """A rule by name: its formula in words of the screen, where it is from, and what it computes of a batch."""

    name: str
    formula: str
    source: str
    compute: Callable[[GroupedRewards], Float64Array]


@dataclass(frozen=True)
class Fit:
    """How near logged advantages are to a rule, over the rollouts that have both."""

    rule: AdvantageRule
    rows: int
    fitting: int
    """Those within ABSOLUTE and RELATIVE."""
    largest_error: float
    r_squared: float
    """1 − Σ(logged − rule)² / Σ(logged − mean)²; NaN where nothing is compared or all logged are equal."""
    errors: Float64Array
    """(m,) logged − rule, NaN where either is missing."""
    fits: NDArray[np.bool_]
    """(m,) whether it is near enough; False where nothing is compared."""


def _grpo(free: int) -> Callable[[GroupedRewards], Float64Array]:
    return lambda batch: batch.less_mean() / (batch.std(batch.groups, batch.rewards, free) + EPSILON)


def _rloo(batch: GroupedRewards) -> Float64Array:
    n = _count(batch.rewards, batch.groups)
    return np.where(n > 1, n / np.maximum(n - 1, 1), np.nan) * batch.less_mean()


def _batch(batch: GroupedRewards) -> Float64Array:
    off = batch.rewards - _mean(batch.rewards, batch.steps)
    return off / (batch.std(batch.steps, batch.rewards, 1) + EPSILON)


def _mixed(batch: GroupedRewards) -> Float64Array:
    return batch.less_mean() / (batch.std(batch.steps, batch.rewards, 1) + EPSILON)


RULES: Final[tuple[AdvantageRule, ...]] = (
    AdvantageRule("GRPO, std of n", "(R − μ) / (σ + ε), σ² over n", "Shao et al. 2024, arXiv:2402.03300, 4.1.2", _grpo(0)),
    AdvantageRule("GRPO, std of n − 1", "(R − μ) / (σ + ε), σ² over n − 1, as torch.std", "TRL, verl", _grpo(1)),
    AdvantageRule("Dr. GRPO", "R − μ", "Liu et al. 2025, arXiv:2503.20783, 3.2", lambda batch: batch.less_mean()),
    AdvantageRule("RLOO", "n / (n − 1) · (R − μ)", "Ahmadian et al. 2024, arXiv:2402.14740, 2.2", _rloo),
    AdvantageRule("batch", "(R − mean of the step) / (std of the step + ε)", "REINFORCE++, Hu 2025, arXiv:2501.03262", _batch),
    AdvantageRule("group mean, batch std", "(R − μ) / (std of the step + ε)", 'TRL, scale_rewards="batch"', _mixed),
)


def fits(batch: GroupedRewards, logged: Float64Array, progress: Callable[[float], None] = lambda share: None) -> list[Fit]:
    """How near the logged advantages (m,) are to each of RULES, the one that most rollouts fit first, of equals the one of smaller errors.

    `progress` is called with the share of the rules that is done.
    """
    found = []
    for nth, rule in enumerate(RULES, 1):
        found.append(_fit(rule, batch, logged))
        progress(nth / len(RULES))
    worst = [np.inf if np.isnan(one.largest_error) else one.largest_error for one in found]
    return [found[at] for at in sorted(range(len(found)), key=lambda at: (-found[at].fitting, worst[at]))]


def _fit(rule: AdvantageRule, batch: GroupedRewards, logged: Float64Array) -> Fit:
    with np.errstate(invalid="ignore", over="ignore"):
        expected = rule.compute(batch)
        errors = logged - expected
        fit = np.abs(errors) <= ABSOLUTE + RELATIVE * np.abs(expected)
        compared = np.isfinite(errors)
        spread = float(np.square(logged[compared] - logged[compared].mean()).sum()) if compared.any() else 0.0
        left = float(np.square(errors[compared]).sum())
    largest = float(np.abs(errors[compared]).max()) if compared.any() else np.nan
    return Fit(
        rule,
        int(compared.sum()),
        int(fit.sum()),
        largest,
        1 - left / spread if spread > 0 else np.nan,
        np.where(compared, errors, np.nan),
        fit,
    )


def _count(values: Float64Array, bounds: NDArray[np.int64]) -> Float64Array:
    return np.repeat(np.add.reduceat(np.isfinite(values).astype(np.float64), bounds[:-1]), np.diff(bounds))


def _sum(values: Float64Array, bounds: NDArray[np.int64]) -> Float64Array:
    return np.repeat(np.add.reduceat(np.where(np.isfinite(values), values, 0.0), bounds[:-1]), np.diff(bounds))


def _mean(values: Float64Array, bounds: NDArray[np.int64]) -> Float64Array:
    with np.errstate(invalid="ignore"):
        return _sum(values, bounds) / np.maximum(_count(values, bounds), 1)
