"""A declared metric computed from a run's frame: one number per step.

The declaration of a computation is in `board.metrics.declared.computation`.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from board.analysis.steps.step_metrics.data import StepData
from board.analysis.steps.step_metrics.of_columns import OF_COLUMNS
from board.metrics.declared.computation import Applied, Computation, OfColumns, OfEvaluation, SoFar, Statistic
from board.metrics.expressions import evaluated
from board.metrics.formulas import Float64Array
from board.metrics.group_statistics import group_statistics

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
