"""Sums of every rollout's tokens, so that numbers of a step need no token array.

A step's mean over tokens is not the mean of its rollouts' means; `board.metrics.step_sums` makes it, and the variance, of what is here. Flat
arrays in, one number per rollout out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.metrics import formulas
from board.metrics.declared import METRICS
from board.metrics.declared.computation import DERIVED, statistics
from board.metrics.formulas import BoolArray, Float64Array, FloatArray, beyond_clip
from board.schema import TOKEN_METRICS, TOKENS, title

Moments = dict[str, Float64Array]
"""Columns by "quantity/stat", one number per rollout; NaN where the rollout lacks the quantity, and its count 0."""

Flats = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Tokens:
    """The token arrays of many rollouts end to end."""

    flats: Flats
    """(N,) numbers by field name, NaN for a rollout without the field; of `response_tokens` 1 for an end token, 0 for others."""
    offsets: NDArray[np.int64]
    """(n + 1,): rollout i has the numbers from `offsets[i]` to before `offsets[i + 1]`."""
    counts: BoolArray
    """(N,): False for pads and masked tokens, which enter nothing."""

    @cached_property
    def trained(self) -> FloatArray:
        """Logprobs by the trainer of the policy that sampled, (N,): those before the update where the row has them."""
        return formulas.before_update(self.flats["logprobs"], self.flats.get("old_logprobs"))

    @cached_property
    def log_ratio(self) -> Float64Array:
        """Logprob of the policy minus that of the reference, (N,)."""
        return formulas.log_ratio(self.flats["logprobs"], self.flats["ref_logprobs"])

    @cached_property
    def mismatch(self) -> Float64Array:
        """Logprob of the trainer minus that of the inference engine, both of the policy that sampled, (N,)."""
        return formulas.log_ratio(self.trained, self.flats["rollout_logprobs"])

    @cached_property
    def update(self) -> Float64Array:
        """Logprob of the policy minus that of the policy the update began with, (N,)."""
        return formulas.log_ratio(self.flats["logprobs"], self.flats["old_logprobs"])

    @cached_property
    def probabilities(self) -> tuple[Float64Array, Float64Array]:
        """Of the trainer and of the inference engine, each (N,), both NaN where either is not finite."""
        trained, sampled = (formulas.exp(one) for one in (self.trained, self.flats["rollout_logprobs"]))
        both = np.isfinite(self.mismatch) & np.isfinite(trained) & np.isfinite(sampled)
        return np.where(both, trained, np.nan), np.where(both, sampled, np.nan)

    @cached_property
    def credited(self) -> tuple[Float64Array, Float64Array]:
        """Logprob by the policy and advantage, each (N,), both NaN where either is not finite."""
        logprobs, advantages = (np.asarray(self.flats[name], np.float64) for name in ("logprobs", "advantages"))
        both = np.isfinite(logprobs) & np.isfinite(advantages)
        return np.where(both, logprobs, np.nan), np.where(both, advantages, np.nan)

    @cached_property
    def to_go(self) -> Float64Array:
        """Sum of the token rewards from each token to the rollout's end (gamma = lambda = 1), (N,); NaN where one of them is missing."""
        rewards = np.where(self.counts, self.flats["token_rewards"], 0).astype(np.float64)
        return formulas.sums_to_end(rewards, self.offsets)

    @cached_property
    def returns(self) -> Float64Array:
        """The row's own returns, (N,)."""
        return np.asarray(self.flats["returns"], np.float64)

    def following(self, values: FloatArray) -> Float64Array:
        """At every counted token the value at the rollout's next counted token, 0 at its last one; (N,)."""
        held = np.asarray(values, np.float64)[self.counts]
        bounds = np.concatenate([[0], np.cumsum(self.counts)])[self.offsets]
        onward = np.append(held[1:], 0.0)[: len(held)]
        onward[bounds[1:][bounds[1:] > bounds[:-1]] - 1] = 0
        after = np.zeros(len(values))
        after[self.counts] = onward
        return after


def _kl(estimator: str) -> Callable[[Tokens], FloatArray]:
    return lambda tokens: formulas.kl(tokens.log_ratio, estimator)


def clipped(tokens: Tokens) -> FloatArray:
    """1 where clipping changes the objective: the ratio has left the range on the side that the advantage pushes it to; else 0."""
    low, high = (beyond_clip(tokens.update, low=side) for side in (True, False))
    advantages = tokens.flats["advantages"]
    pushed = np.where(advantages > 0, high, np.where(advantages < 0, low, 0))
    return np.where(np.isnan(advantages) | np.isnan(low), np.nan, pushed)


def _td_error(tokens: Tokens) -> FloatArray:
    values = np.asarray(tokens.flats["values"], np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.abs(tokens.flats["token_rewards"] + tokens.following(values) - values)


def _critic_error(returns: FloatArray, tokens: Tokens) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        return returns - np.asarray(tokens.flats["values"], np.float64)


def _where_valued(returns: FloatArray, tokens: Tokens) -> FloatArray:
    """The returns that an explained variance is of: those of tokens that have a value."""
    return np.where(np.isfinite(tokens.flats["values"]), returns, np.nan)


def _probability_sum(tokens: Tokens) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.add(*tokens.probabilities)


def _product(first: FloatArray, second: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.multiply(first, second)


def _probability_gap(tokens: Tokens) -> FloatArray:
    return np.abs(np.subtract(*tokens.probabilities))


QUANTITIES: Final[Mapping[str, Callable[[Tokens], FloatArray]]] = {
    **{formulas.kl_column(name).removesuffix("_mean"): _kl(name) for name in formulas.ESTIMATORS},
    "value_error": lambda tokens: _critic_error(tokens.returns, tokens),
    "valued_return": lambda tokens: _where_valued(tokens.returns, tokens),
    "td_error": _td_error,
    "value_error_mc": lambda tokens: _critic_error(tokens.to_go, tokens),
    "valued_return_mc": lambda tokens: _where_valued(tokens.to_go, tokens),
    "mismatch": lambda tokens: tokens.mismatch,
    "mismatch_abs": lambda tokens: np.abs(tokens.mismatch),
    "mismatch_error": lambda tokens: formulas.exp(np.abs(tokens.mismatch)),
    # the tokens are the inference engine's: the log-ratio of who sampled them to who trains on them is -mismatch
    "mismatch_k3": lambda tokens: formulas.kl(-tokens.mismatch, "k3"),
    "mismatch_weight": lambda tokens: formulas.exp(tokens.mismatch),
    "trained_prob": lambda tokens: tokens.probabilities[0],
    "sampled_prob": lambda tokens: tokens.probabilities[1],
    "prob_sum": _probability_sum,
    "prob_gap": _probability_gap,
    "trained_logprob": lambda tokens: tokens.trained,
    "credited_logprob": lambda tokens: tokens.credited[0],
    "credited_advantage": lambda tokens: tokens.credited[1],
    "logprob_advantage": lambda tokens: _product(*tokens.credited),
    "end_token": lambda tokens: tokens.flats[TOKENS],
    "update": lambda tokens: tokens.update,
    "clipped": clipped,
    "update_ratio": lambda tokens: formulas.exp(tokens.update),
    "update_k2": lambda tokens: formulas.kl(tokens.update, "k2"),
    "clip_low": lambda tokens: beyond_clip(tokens.update, low=True),
    "clip_high": lambda tokens: beyond_clip(tokens.update, low=False),
}
"""Quantities other than the row's own arrays: (N,) numbers of N tokens. What they need is in `declared.computation`."""

_SPREAD: Final = frozenset(
    statistic.of
    for metric in METRICS.values()
    if metric.computation is not None
    for statistic in statistics(metric.computation)
    if statistic.over == "tokens" and statistic.name not in ("mean", "max")
)
"""Quantities whose "m2" (sum of squares around the mean), "m3" (of cubes) and "min" a metric asks for; they cost a pass each."""


def moments(tokens: Tokens) -> Moments:
    """Per rollout the "count", "mean", "sum" and "max" of every quantity its arrays allow; of some also "m2", "m3" and "min".

    Each column is (n,). Only counted tokens with a finite number enter.
    """
    columns: Moments = {}
    for name, values in _quantities(tokens):
        columns |= {f"{name}/{stat}": column for stat, column in _stats(values, tokens, spread=name in _SPREAD).items()}
    return columns


def _quantities(tokens: Tokens) -> Iterator[tuple[str, FloatArray]]:
    """One after the other, so that the memory of one is there for the next."""
    for name in TOKEN_METRICS:
        if name in tokens.flats and name != "loss_mask":
            yield title(name), tokens.flats[name]
    for name, compute in QUANTITIES.items():
        if all(one in tokens.flats for one in DERIVED[name]):
            yield name, compute(tokens)


def _stats(values: FloatArray, tokens: Tokens, *, spread: bool) -> Moments:
    stats = formulas.segment_stats(values, tokens.offsets, tokens.counts)
    found: Moments = {"count": stats.count.astype(np.float64), "mean": stats.mean, "sum": stats.sum, "max": stats.max}
    if not spread:
        return found
    wide = np.asarray(values, np.float64)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        around = wide - np.repeat(stats.mean, np.diff(tokens.offsets))
        squares = np.square(around)
        found["m2"] = formulas.segment_reduced(squares, tokens.offsets, tokens.counts, "sum")
        found["m3"] = formulas.segment_reduced(squares * around, tokens.offsets, tokens.counts, "sum")
    found["min"] = formulas.segment_reduced(wide, tokens.offsets, tokens.counts, "min")
    return found
