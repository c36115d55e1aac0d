"""The computation of a step's number from its rollouts, as data.

`board.analysis.steps.step_metrics` reads it, on a run's frame. Knows which fields a quantity is made of, and neither arrays nor
formulas: those are in `board.metrics`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar

from board.schema import TOKEN_METRICS, TOKENS, title

_REFERENCE: Final = ("logprobs", "ref_logprobs")
_ENGINE: Final = ("logprobs", "rollout_logprobs")
_CHANGE: Final = ("logprobs", "old_logprobs")
_CREDIT: Final = ("logprobs", "advantages")
_CRITIC: Final = ("values", "returns")
_MONTE_CARLO: Final = ("values", "token_rewards")

DERIVED: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("log_ratio", "kl_k2", "kl_k3"), _REFERENCE),
    **dict.fromkeys(("value_error", "valued_return"), _CRITIC),
    **dict.fromkeys(("td_error", "value_error_mc", "valued_return_mc"), _MONTE_CARLO),
    **dict.fromkeys(("mismatch", "mismatch_abs", "mismatch_error", "mismatch_k3", "mismatch_weight"), _ENGINE),
    **dict.fromkeys(("trained_prob", "sampled_prob", "prob_sum", "prob_gap"), _ENGINE),
    "trained_logprob": ("logprobs",),
    "end_token": (TOKENS,),
    **dict.fromkeys(("credited_logprob", "credited_advantage", "logprob_advantage"), _CREDIT),
    **dict.fromkeys(("update", "update_ratio", "update_k2", "clip_low", "clip_high"), _CHANGE),
    "clipped": (*_CHANGE, "advantages"),
}
"""Numbers per token that are not one of the row's own arrays → the arrays they need; `board.metrics.token_sums` computes them."""

PER_TOKEN: Final[Mapping[str, tuple[str, ...]]] = {
    **{title(name): (name,) for name in TOKEN_METRICS if name != "loss_mask"},
    **DERIVED,
}
"""All numbers per token; the row's own arrays go by their screen names ("logprob")."""

PER_ROLLOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "reward_gap": ("reward", "ref_reward"),
    "truncated": ("finish_reason",),
}
"""Numbers per rollout that are made of other fields → those fields; every other one is a field."""


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
