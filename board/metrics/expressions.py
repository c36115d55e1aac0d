"""Functions that declared metrics name, of numbers of each rollout or each step.

Each takes and gives float64 arrays of one shape. A missing number is NaN and stays so; what overflows is infinite and warns of nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import numpy as np

from board.metrics.declared.computation import Applied
from board.metrics.formulas import Float64Array

T = TypeVar("T")


def evaluated(expression: T | Applied[T], look_up: Callable[[T], Float64Array]) -> Float64Array:
    """The number itself where it is looked up, else the function of what is. KeyError for a function that is none of FUNCTIONS."""
    if not isinstance(expression, Applied):
        return look_up(expression)
    with np.errstate(all="ignore"):
        return FUNCTIONS[expression.function](*map(look_up, expression.to))


def _known(condition: Any, value: Float64Array) -> Float64Array:
    """The condition as 0 and 1, NaN where the value it is about is missing."""
    return np.where(np.isnan(value), np.nan, condition)


def _explained(error: Float64Array, total: Float64Array) -> Float64Array:
    """Share of a total variance that the variance of the error leaves explained; NaN where there is nothing to explain."""
    return np.where(total > 0, 1 - error / total, np.nan)


def _effective(mean: Float64Array, mean_square: Float64Array) -> Float64Array:
    """Effective sample size of weights over their number: (sum w)² / (n sum w²)."""
    return np.square(mean) / mean_square


def _correlation(first: Float64Array, second: Float64Array, both: Float64Array) -> Float64Array:
    """Pearson's, of the variances of two numbers and of their sum: Var(p + q) = Var p + Var q + 2 Cov(p, q)."""
    found = (both - first - second) / (2 * np.sqrt(first * second))
    return np.where(np.isfinite(found), np.clip(found, -1, 1), np.nan)


def _padded_mean(mean: Float64Array, tokens: Float64Array, longest: Float64Array, rollouts: Float64Array) -> Float64Array:
    """Mean over every position of a batch that is padded to its longest response, padding as 0."""
    return mean * tokens / (longest * rollouts)


def _padded_std(
    mean: Float64Array, mean_square: Float64Array, tokens: Float64Array, longest: Float64Array, rollouts: Float64Array
) -> Float64Array:
    """Standard deviation over the same positions (ddof 0)."""
    share = tokens / (longest * rollouts)
    return np.sqrt(np.maximum(mean_square * share - np.square(mean * share), 0))


FUNCTIONS: Final[Mapping[str, Callable[..., Float64Array]]] = {
    "negative": np.negative,
    "size": np.abs,
    "exp": np.exp,
    "exp_of_negative": lambda value: np.exp(-value),
    "less_one": lambda value: value - 1,
    "sum": np.add,
    "difference": np.subtract,
    "is_above_0": lambda value: _known(value > 0, value),
    "is_below_0": lambda value: _known(value < 0, value),
    "is_0": lambda value: _known(value == 0, value),
    "explained_share": _explained,
    "covariance": lambda product, first, second: product - first * second,
    "effective_share": _effective,
    "correlation": _correlation,
    "padded_mean": _padded_mean,
    "padded_std": _padded_std,
}
