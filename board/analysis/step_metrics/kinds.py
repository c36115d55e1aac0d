"""Kinds of metrics: from a column or a quantity to how a step's number is made of it. Knows no metric by name.

Each function returns what computes a metric: from a run's columns to one number per step.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from board.analysis.step_metrics.data import Compute, StepData
from board.metrics.formulas import Float64Array


def over_rollouts(stat: str, column: str) -> Compute:
    """A statistic of `by_step.Steps` over the rollouts' numbers in a column of the frame."""
    return lambda data: getattr(data.steps, stat)(data.column(column))


def all_rollouts(prefix: str, column: str, *stats: str) -> dict[str, Compute]:
    """Several of these, by the key that the prefix and the statistic make."""
    return {f"{prefix}{stat}": over_rollouts(stat, column) for stat in stats}


def token_mean(quantity: str) -> Compute:
    """Mean over all counted tokens of the step."""
    return lambda data: data.token_mean(quantity)


def largest(quantity: str) -> Compute:
    """Over all counted tokens of the step."""
    return lambda data: data.steps.max(data.moment(quantity, "max"))


def smallest(quantity: str) -> Compute:
    """Over all counted tokens of the step."""
    return lambda data: data.steps.min(data.moment(quantity, "min"))


def pooled(quantity: str, stat: str) -> Compute:
    """A statistic of `by_step.Pooled` over all counted tokens of the step."""
    return lambda data: np.asarray(getattr(data.pooled(quantity), stat))


def token_std(quantity: str) -> Compute:
    """Standard deviation over all counted tokens of the step (ddof 0)."""
    return lambda data: np.sqrt(data.pooled(quantity).variance)


def rollout_sums(quantity: str) -> Compute:
    """Mean over rollouts of the sum over the response."""
    return lambda data: data.steps.mean(data.moment(quantity, "sum"))


def explained(error: str, returns: str) -> Compute:
    """1 - Var(error) / Var(returns) over all counted tokens; NaN where the returns do not vary."""

    def compute(data: StepData) -> Float64Array:
        unexplained, all_there_is = data.pooled(error).variance, data.pooled(returns).variance
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(all_there_is > 0, 1 - unexplained / all_there_is, np.nan)

    return compute


def squared(quantity: str) -> Compute:
    """Mean of the squares over tokens."""
    return lambda data: data.pooled(quantity).variance + np.square(data.pooled(quantity).mean)


def share(condition: Callable[[StepData], Float64Array]) -> Compute:
    """Share of rollouts; the condition is 1, 0 or NaN for each."""
    return lambda data: data.steps.mean(condition(data))


def known(condition: NDArray[np.bool_], *of: Float64Array) -> Float64Array:
    """The condition as numbers, NaN where one of the values it is about is missing."""
    return np.where(np.logical_or.reduce([np.isnan(one) for one in of]), np.nan, condition)


def running(total: Compute) -> Compute:
    """Summed over the steps so far."""
    return lambda data: np.nancumsum(total(data))
