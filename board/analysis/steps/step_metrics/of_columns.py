"""Functions of several columns that declared metrics name, by step."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.stats.length_attribution import coupling, lengths_by_outcome
from board.metrics.formulas import Float64Array
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
