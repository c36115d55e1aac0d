"""The computation of a step's number from its rollouts, as data.

`board.analysis.steps.step_metrics` reads it, on a run's frame. Knows which fields a quantity is made of (`quantities`), and neither arrays nor
formulas: those are in `board.metrics`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from board.metrics.declared.quantities import PER_ROLLOUT, PER_TOKEN

T = TypeVar("T")

Over = Literal["tokens", "rollouts", "groups"]
StatisticName = Literal["mean", "std", "variance", "skewness", "mean_square", "median", "max", "min", "sum", "size"]


@dataclass(frozen=True)
class Applied(Generic[T]):
    """A function of `board.metrics.expressions`, by its name, and what it is applied to."""

    function: str
    to: tuple[T, ...]


Number = str | Applied[str]
"""A number of each rollout: one of its own ("reward"), what a quantity adds up to over its tokens ("logprob/mean"), or a function of such."""


@dataclass(frozen=True)
class Statistic:
    """One statistic of a step's tokens, rollouts or groups."""

    over: Over
    of: Number
    """A quantity where it is over tokens; "" where the rollouts themselves are counted."""
    name: str
    """Over tokens and rollouts one of `StatisticName`, over groups one of `board.metrics.group_statistics.GROUP_STATISTICS`."""


@dataclass(frozen=True)
class SoFar:
    """The sum or the maximum of a step's number over all steps up to it."""

    combine: Literal["sum", "max"]
    of: Statistic


@dataclass(frozen=True)
class OfEvaluation:
    """A statistic of the rollouts of an evaluation; all others are of those of training."""

    of: Statistic


@dataclass(frozen=True)
class OfColumns:
    """What a function of `board.analysis.steps.step_metrics.interpreter` makes of columns of all rollouts of the run at once."""

    function: str
    columns: tuple[str, ...]


Computation = Statistic | Applied[Statistic] | SoFar | OfEvaluation | OfColumns


def statistics(computation: Computation) -> tuple[Statistic, ...]:
    """The statistics that a step's number is made of."""
    match computation:
        case Statistic():
            return (computation,)
        case Applied(to=to):
            return to
        case OfColumns():
            return ()
        case _:
            return (computation.of,)


def needed_fields(computation: Computation) -> tuple[str, ...]:
    """Columns (frame) or token arrays that a rollout must have, each once."""
    if isinstance(computation, OfColumns):
        return computation.columns
    fields = [field for one in statistics(computation) for field in _fields(one)]
    return tuple(dict.fromkeys([*fields, *["split"] * isinstance(computation, OfEvaluation)]))


def _fields(one: Statistic) -> Iterator[str]:
    if one.over == "rollouts" and not one.of:
        yield "step"  # every row that is read has one
    for name in one.of.to if isinstance(one.of, Applied) else (one.of,):
        quantity = name.partition("/")[0]
        yield from PER_TOKEN[quantity] if one.over == "tokens" or "/" in name else PER_ROLLOUT.get(name, (name,) * bool(name))
    if one.over == "groups":
        yield "group"
