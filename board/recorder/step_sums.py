"""A step's numbers out of its rollouts, one after another: holds sums and extremes, never a rollout.

Knows the names of the metrics (those of `board.catalogue`) and which statistic each is; knows nothing of trackers or files.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from board.recorder.moments import Moments
from board.recorder.observed import observe

EVALUATION: Final = "evaluation"


def _each(prefix: str, quantity: str, statistics: str) -> dict[str, tuple[str, str]]:
    """One metric per statistic of a quantity: its key, and where its number is from."""
    return {f"{prefix}{statistic}": (quantity, statistic) for statistic in statistics.split()}


KEYS: Final[dict[str, tuple[str, str]]] = {
    **_each("reward/", "reward", "mean std max min sum"),
    **_each("reward/shaped_", "shaped", "mean max min"),
    "reward/penalty_mean": ("penalty", "mean"),
    "reward/reference_mean": ("ref_reward", "mean"),
    "reward/gap_mean": ("gap", "mean"),
    "reward/win_rate": ("win", "mean"),
    "reward/validation_mean": ("valid_reward", "mean"),
    **{key: found for name in ("k1", "k2", "k3") for key, found in _each(f"kl/{name}_", name, "mean max").items()},
    **{f"kl/{name}_sum_mean": (f"{name}_sum", "mean") for name in ("k1", "k2", "k3")},
    **_each("kl/k1_rollout_", "k1_rollout", "mean std max"),
    **_each("kl/k3_rollout_", "k3_rollout", "mean std max"),
    "kl/negative_share": ("negative", "mean"),
    "policy/logprob_mean": ("logprob", "mean"),
    "policy/ref_logprob_mean": ("ref_logprob", "mean"),
    "policy/surprisal_sum_mean": ("surprisal", "mean"),
    **_each("policy/entropy_", "entropy", "mean max"),
    **_each("advantage/", "advantage", "mean std variance max min"),
    **_each("returns/", "return", "mean max min"),
    **_each("critic/value_", "value", "mean std max min"),
    "critic/bias": ("bias", "mean"),
    "critic/error": ("error", "mean"),
    **_each("length/", "length", "mean std max min"),
    "length/chars_mean": ("chars", "mean"),
    "length/truncated_share": ("truncated", "mean"),
    "length/empty_share": ("empty", "mean"),
    **_each("mismatch/abs_", "mismatch_abs", "mean max"),
    **_each("mismatch/prob_diff_", "mismatch_prob", "mean max std"),
    "mismatch/mult_prob_error": ("mismatch_mult", "mean"),
    "mismatch/kl": ("mismatch_kl", "mean"),
    "mismatch/k3": ("mismatch_k3", "mean"),
    **_each("mismatch/is_", "mismatch_is", "mean std"),
    "mismatch/is_sequence_mean": ("mismatch_sequence", "mean"),
    **_each("update/ratio_", "ratio", "mean max min variance"),
    "update/clip_low_share": ("clip_low", "mean"),
    "update/clip_high_share": ("clip_high", "mean"),
    "update/clip_share": ("clip", "mean"),
    "update/approxkl": ("approxkl", "mean"),
    "counts/tokens": ("length", "sum"),
}
"""Metric → the quantity (`observed`) and the statistic of it, over all counted tokens or all rollouts of the step."""


class StepSums:
    """The sums of one step; rollouts of an evaluation enter the evaluation's reward alone."""

    def __init__(self) -> None:
        self._rollouts = 0
        self._moments: dict[str, Moments] = defaultdict(Moments)
        self._evaluation = Moments()
        self._groups: dict[bytes, Moments] = defaultdict(Moments)

    def add(self, row: Mapping[str, Any], group: bytes | None) -> None:
        """Take in one rollout; `group` is equal for those of one group, None where nothing says so."""
        observed = observe(row)
        if observed is None:
            return
        tokens, numbers = observed
        if row.get("split") == EVALUATION:
            self._evaluation.add_one(numbers["reward"])
            return
        self._rollouts += 1
        for name, values in tokens.items():
            self._moments[name].add(values)
        for name, value in numbers.items():
            self._moments[name].add_one(value)
        if group is not None:
            self._groups[group].add_one(numbers["reward"])

    def values(self) -> dict[str, float]:
        """The step's metrics by key; only those that are finite numbers."""
        found = {key: getattr(self._moments[name], what) for key, (name, what) in KEYS.items() if name in self._moments}
        found |= _each_value("evaluation/", self._evaluation, "mean max min") | dict(self._combined()) | _grouped(self._groups)
        if self._rollouts:
            found["counts/rollouts"] = self._rollouts
        return {key: value for key, value in found.items() if math.isfinite(value)}

    def _combined(self) -> Iterator[tuple[str, float]]:
        """Metrics of more than one quantity, or of its mean and its variance together."""
        of = self._moments
        if "explained" in of and of["explained"].variance > 0:
            yield "critic/explained_variance", 1 - of["bias"].variance / of["explained"].variance
        if "mismatch" in of:
            yield "mismatch/ppl_ratio", math.exp(-of["mismatch"].mean)
        for name, suffix in (("mismatch_is", ""), ("mismatch_sequence", "_sequence")):
            if name in of:
                square, variance = of[name].mean ** 2, of[name].variance
                yield f"mismatch/chi2{suffix}", square + variance - 1
                yield f"mismatch/ess{suffix}", square / (square + variance) if square + variance else math.nan


def _each_value(prefix: str, moments: Moments, statistics: str) -> dict[str, float]:
    return {f"{prefix}{statistic}": getattr(moments, statistic) for statistic in statistics.split()}


def _grouped(groups: Mapping[bytes, Moments]) -> dict[str, float]:
    """How rewards differ within groups; nothing where no group has a second scored member."""
    several = [group for group in groups.values() if group.count > 1]
    if not several:
        return {}
    return {
        "groups/zero_std_share": float(np.mean([group.max == group.min for group in several])),
        "groups/std_mean": float(np.mean([group.std for group in several])),
    }
