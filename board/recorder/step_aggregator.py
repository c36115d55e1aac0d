"""A step's numbers out of its rollouts, a few at a time: holds sums, extremes and rewards, and never more than a few rollouts.

Which number is which statistic of what is declared with the metrics (`board.metrics.declared`); of those that rollouts give, this gives the
ones that one step's rollouts give as they come. Knows nothing of trackers or files.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from board.metrics.declared import METRICS
from board.metrics.declared.computation import (
    Applied,
    Computation,
    Number,
    OfEvaluation,
    SoFar,
    Statistic,
    statistics,
    streamable,
)
from board.metrics.expressions import evaluated
from board.metrics.formulas import Float64Array
from board.metrics.group_statistics import group_statistics
from board.metrics.pooling import Pooled
from board.metrics.running_stats import Parts, RunningStats, single
from board.metrics.step_sums import Steps
from board.metrics.token_sums import Moments
from board.recorder.row_stats import Observed, is_discarded, observe, together
from board.schema import EVALUATION
from board.text.padding import COMMON_PADS

AT_ONCE: Final = 16
"""Rollouts that are summed up together: one alone takes as long as several."""

STREAMED: Final[Mapping[str, Computation]] = {
    key: metric.computation
    for key, metric in METRICS.items()
    if metric.computation is not None and streamable(metric.computation)
}
"""Metrics that one step's rollouts give as they come."""

_BY_COMPUTATION: Final = {computation: key for key, computation in STREAMED.items()}
SO_FAR: Final = {
    key: (one.combine, _BY_COMPUTATION[one.of])
    for key, metric in METRICS.items()
    if isinstance(one := metric.computation, SoFar) and one.of in _BY_COMPUTATION
}
"""Metrics of all steps up to one: whether they add up or take the largest, and the metric of a step that they do it with."""

_EVALUATED: Final = {key: one.of for key, one in STREAMED.items() if isinstance(one, OfEvaluation)}
_TRAINED: Final = {key: one for key, one in STREAMED.items() if isinstance(one, Statistic | Applied)}


class StepSums:
    """The sums of one step; rollouts of an evaluation enter the evaluation's metrics alone, discarded ones none."""

    def __init__(self, pads: frozenset[str] = COMMON_PADS) -> None:
        self._pads = pads
        self._trained = _Sums(_TRAINED)
        self._evaluated = _Sums(_EVALUATED)

    def add(self, row: Mapping[str, Any], group: bytes | None) -> None:
        """Take in one rollout; `group` is equal for those of one group, None where nothing says so."""
        observed = None if is_discarded(row) else observe(row, self._pads)
        if observed is not None:
            sums = self._evaluated if row.get("split") == EVALUATION else self._trained
            sums.add(observed, group)

    def values(self) -> dict[str, float]:
        """The step's metrics by key; only those that are finite numbers."""
        return self._trained.values() | self._evaluated.values()


class _Sums:
    """What metrics need of some rollouts of one step."""

    def __init__(self, metrics: Mapping[str, Statistic | Applied[Statistic]]) -> None:
        self._metrics = metrics
        parts = [one for metric in metrics.values() for one in statistics(metric)]
        self._over_tokens = _Spreads(one.of for one in parts if one.over == "tokens")
        self._over_rollouts = _Spreads(one.of for one in parts if one.over == "rollouts" and one.of)
        self._groups = _Groups()
        self._rollouts = 0
        self._waiting: list[Observed] = []

    def add(self, observed: Observed, group: bytes | None) -> None:
        """Take in one rollout."""
        self._rollouts += 1
        self._groups.add(observed.numbers["reward"], group)
        self._waiting.append(observed)
        if len(self._waiting) == AT_ONCE:
            self._sum_up()

    def values(self) -> dict[str, float]:
        """The metrics by key; only those that are finite numbers."""
        self._sum_up()
        if not self._rollouts:
            return {}
        of_groups = self._groups.statistics()
        found = {key: evaluated(metric, lambda one: self._value(one, of_groups)) for key, metric in self._metrics.items()}
        return {key: value.item() for key, value in found.items() if np.isfinite(value)}

    def _value(self, one: Statistic, of_groups: Mapping[str, Float64Array]) -> Float64Array:
        if one.name == "size":
            return np.asarray(self._rollouts)  # a whole number: trackers print it so
        if one.over == "groups":
            return of_groups.get(one.name, np.asarray(np.nan))
        return (self._over_tokens if one.over == "tokens" else self._over_rollouts).statistic(one.of, one.name)

    def _sum_up(self) -> None:
        """Add the rollouts that wait to the sums."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        tokens, numbers = together(waiting)
        known, missing = {**tokens, **numbers}, np.full(len(waiting), np.nan)
        self._over_tokens.add(lambda quantities: _of_tokens(quantities, tokens, len(waiting)))
        self._over_rollouts.add(
            lambda names: single(np.stack([evaluated(name, lambda one: known.get(one, missing)) for name in names], axis=1))
        )


class _Spreads:
    """Running statistics of several quantities or numbers, by what they are of."""

    def __init__(self, of: Iterable[Number]) -> None:
        self._at = {name: at for at, name in enumerate(dict.fromkeys(of))}
        self._stats = RunningStats(len(self._at))

    def add(self, parts_of: Callable[[Sequence[Number]], Parts]) -> None:
        """Take in what there is of each of them, in their order."""
        if self._at:
            self._stats.merge(parts_of(list(self._at)))

    def statistic(self, of: Number, name: str) -> Float64Array:
        """A statistic of one of them, ()."""
        return np.asarray(self._stats.statistic(name)[self._at[of]])


class _Groups:
    """Rewards of a step's rollouts, and which group each is of."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._rewards: list[float] = []
        self._groups: list[float] = []

    def add(self, reward: float, group: bytes | None) -> None:
        """Take in one rollout."""
        self._rewards.append(reward)
        self._groups.append(math.nan if group is None else self._numbers.setdefault(group, len(self._numbers)))

    def statistics(self) -> dict[str, Float64Array]:
        """Statistics over groups by name, each (); nothing where no group has a second member: then nobody sampled in groups."""
        groups = np.array(self._groups)
        if np.isfinite(groups).sum() == len(self._numbers):
            return {}
        with np.errstate(all="ignore"):
            found = group_statistics(Steps(np.zeros(len(groups), np.int64)), np.array(self._rewards), groups)
        return {name: values[0] for name, values in found.items()}


def _of_tokens(quantities: Sequence[Number], tokens: Moments, rollouts: int) -> Parts:
    """What the tokens of each rollout add up to, (rollouts, quantities); what is not kept of a quantity, no metric asks for."""
    columns = {
        stat: [tokens.get(f"{name}/{stat}") for name in quantities] for stat in ("count", "mean", "m2", "m3", "max", "min")
    }
    missing = {stat: np.full(rollouts, 0.0 if stat == "count" else np.nan) for stat in columns}
    count, mean, m2, m3, largest, smallest = (
        np.stack([missing[stat] if one is None else one for one in found], axis=1) for stat, found in columns.items()
    )
    return Parts(Pooled(count, mean, m2, m3), largest, smallest)
