"""A declared metric computed from a run's frame: one number per step.

The declaration of a computation is in `board.metrics.declared.computation`.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.stats.length_attribution import coupling, lengths_by_outcome
from board.analysis.steps.step_metrics.data import StepData
from board.metrics.declared.computation import Applied, Computation, OfColumns, OfEvaluation, SoFar, Statistic
from board.metrics.expressions import evaluated
from board.metrics.formulas import Float64Array
from board.metrics.group_statistics import group_statistics
from board.metrics.step_sums import Steps


def _coupling(steps: Steps, lengths: Float64Array, rewards: Float64Array, groups: Float64Array) -> Float64Array:
    """`coupling` of groups that are numbered anew in each step, NaN for none."""
    return coupling(steps, lengths, rewards, _groups_of_run(steps, groups))


def _groups_of_run(steps: Steps, groups: Float64Array) -> NDArray[np.int64]:
    known = np.isfinite(groups)
    numbers = np.where(known, groups, 0).astype(np.int64)
    numbers -= numbers.min(initial=0)
    codes = np.unique(steps.row * (numbers.max(initial=0) + 1) + numbers, return_inverse=True)[1]
    return np.where(known, codes.ravel(), -1)


def _of_outcome(outcome: str) -> Callable[[Steps, Float64Array, Float64Array], Float64Array]:
    def lengths(steps: Steps, length: Float64Array, reward: Float64Array) -> Float64Array:
        known = reward[np.isfinite(reward)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)
        if not low < high:
            return np.full(len(steps.numbers), np.nan)
        return lengths_by_outcome(steps, length, reward, low / 2 + high / 2)[outcome].to_numpy(np.float64)

    return lengths


def _mean_without(steps: Steps, values: Float64Array, left_out: Float64Array) -> Float64Array:
    return steps.mean(np.where(left_out == 1, np.nan, values))


OF_COLUMNS: Final[Mapping[str, Callable[..., Float64Array]]] = {
    "correlation_in_groups": _coupling,
    "length_of_right": _of_outcome("right"),
    "length_of_wrong": _of_outcome("wrong"),
    "mean_without": _mean_without,
}
"""By name: from the steps of the rollouts and columns of them, (rollouts,) each, NaN where missing, to a number for each step, (steps,)."""

OF_ALL_STEPS: Final = frozenset({"length_of_right", "length_of_wrong"})
"""Those that need all steps of a run to compute one: the least and the largest reward there is decide what is right."""


_COMBINED: Final[Mapping[str, Callable[[Float64Array], Float64Array]]] = {
    "sum": np.nancumsum,
    "max": lambda values: np.fmax.accumulate(values) if len(values) else values,
}
"""From numbers of the steps to those of all steps so far."""


def per_step(computation: Computation, data: StepData) -> Float64Array:
    """One number per step, (steps,). The data are of the evaluation's rollouts for a metric of an evaluation, else of those of training."""
    match computation:
        case SoFar(combine, of):
            return _COMBINED[combine](_statistic(of, data))
        case OfEvaluation(of):
            return _statistic(of, data)
        case OfColumns(function, columns):
            return OF_COLUMNS[function](data.steps, *(data.number(name) for name in columns))
        case Statistic() | Applied():
            return evaluated(computation, lambda one: _statistic(one, data))


def _statistic(one: Statistic, data: StepData) -> Float64Array:
    if one.over == "groups":
        found = data.once("groups", lambda: group_statistics(data.steps, data.column("reward"), data.column("group")))
        return found[one.name]
    if one.over == "rollouts":
        return data.steps.sizes if one.name == "size" else _over_rollouts(one, data)
    return _over_tokens(str(one.of), one.name, data)


def _over_rollouts(one: Statistic, data: StepData) -> Float64Array:
    values = evaluated(one.of, data.number)
    found: Float64Array = getattr(data.steps, one.name)(values)
    return found


def _over_tokens(quantity: str, name: str, data: StepData) -> Float64Array:
    if name == "mean":
        return data.token_mean(quantity)
    if name in ("max", "min"):
        extreme: Float64Array = getattr(data.steps, name)(data.number(f"{quantity}/{name}"))
        return extreme
    return np.asarray(getattr(data.pooled(quantity), name))
