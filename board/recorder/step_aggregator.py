"""A step's numbers out of its rollouts, a few at a time: holds sums and extremes, and never more than a few rollouts.

Knows the names of the metrics (those of `board.metrics.declared`) and which statistic each is; knows nothing of trackers or files.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from board.metrics import formulas
from board.metrics.running_stats import Spread
from board.metrics.token_sums import Moments
from board.recorder.row_stats import Observed, observe, together
from board.schema import EVALUATION

AT_ONCE: Final = 16
"""Rollouts that are summed up together: one alone takes as long as several."""


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
    **_each("kl/k1_", "log_ratio/", "mean max"),
    **_each("kl/k2_", "kl_k2/", "mean max"),
    **_each("kl/k3_", "kl_k3/", "mean max"),
    **{f"kl/{name}_sum_mean": (f"{name}_sum", "mean") for name in ("k1", "k2", "k3")},
    **_each("kl/k1_rollout_", "k1_rollout", "mean std max"),
    **_each("kl/k3_rollout_", "k3_rollout", "mean std max"),
    "kl/negative_share": ("negative", "mean"),
    "policy/logprob_mean": ("logprob/", "mean"),
    "policy/old_logprob_mean": ("trained_logprob/", "mean"),
    "policy/ref_logprob_mean": ("ref_logprob/", "mean"),
    "policy/surprisal_sum_mean": ("surprisal", "mean"),
    **_each("policy/entropy_", "entropy/", "mean max"),
    **_each("advantage/", "advantage/", "mean std variance max min"),
    **_each("advantage/rollout_", "advantage_rollout", "mean std variance"),
    **_each("returns/", "return/", "mean max min"),
    **_each("critic/value_", "value/", "mean std max min"),
    "critic/value_rollout_mean": ("value_rollout", "mean"),
    "critic/error": ("value_error/", "square"),
    "critic/td_error": ("td_error/", "mean"),
    **_each("length/", "length", "mean std max min"),
    "length/chars_mean": ("chars", "mean"),
    "length/truncated_share": ("truncated", "mean"),
    "length/empty_share": ("empty", "mean"),
    **_each("mismatch/abs_", "mismatch_abs/", "mean max"),
    **_each("mismatch/prob_diff_", "prob_gap/", "mean max std"),
    "mismatch/mult_prob_error": ("mismatch_error/", "mean"),
    "mismatch/k3": ("mismatch_k3/", "mean"),
    **_each("mismatch/is_", "mismatch_weight/", "mean std"),
    "mismatch/is_sequence_mean": ("sequence_weight", "mean"),
    "mismatch/policy_ppl": ("logprob_ppl", "mean"),
    "mismatch/policy_log_ppl": ("logprob_log_ppl", "mean"),
    "mismatch/rollout_ppl": ("rollout_logprob_ppl", "mean"),
    "mismatch/rollout_log_ppl": ("rollout_logprob_log_ppl", "mean"),
    **_each("update/ratio_", "update_ratio/", "mean max min variance"),
    "update/clip_low_share": ("clip_low/", "mean"),
    "update/clip_high_share": ("clip_high/", "mean"),
    "update/approxkl": ("update_k2/", "mean"),
    "update/log_ratio_mean": ("update/", "mean"),
    "update/objective_clip_share": ("clipped/", "mean"),
    "counts/tokens": ("length", "sum"),
}
"""Metric → the quantity and the statistic of it: over all counted tokens where it ends in a slash (`board.metrics.token_sums`), else over all
rollouts (`observed`)."""


class StepSums:
    """The sums of one step; rollouts of an evaluation enter the evaluation's reward alone."""

    def __init__(self) -> None:
        self._rollouts = 0
        self._waiting: list[Observed] = []
        self._spreads: dict[str, Spread] = defaultdict(Spread)
        self._evaluation = Spread()
        self._groups: dict[bytes, Spread] = defaultdict(Spread)

    def add(self, row: Mapping[str, Any], group: bytes | None) -> None:
        """Take in one rollout; `group` is equal for those of one group, None where nothing says so."""
        observed = observe(row)
        if observed is None:
            return
        reward = np.array([observed.numbers["reward"]])
        if row.get("split") == EVALUATION:
            self._evaluation.add(reward)
            return
        self._rollouts += 1
        if group is not None:
            self._groups[group].add(reward)
        self._waiting.append(observed)
        if len(self._waiting) == AT_ONCE:
            self._sum_up()

    def values(self) -> dict[str, float]:
        """The step's metrics by key; only those that are finite numbers."""
        self._sum_up()
        found = {key: getattr(self._spreads[name], what) for key, (name, what) in KEYS.items() if name in self._spreads}
        found |= {f"evaluation/{what}": getattr(self._evaluation, what) for what in ("mean", "max", "min")}
        found |= dict(self._combined()) | _grouped(self._groups)
        if self._rollouts:
            found["counts/rollouts"] = self._rollouts
        return {key: value for key, value in found.items() if math.isfinite(value)}

    def _sum_up(self) -> None:
        """Add the rollouts that wait to the sums."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        tokens, numbers = together(waiting)
        for name, values in numbers.items():
            self._spreads[name].add(values)
        for name in (column.removesuffix("count") for column in tokens if column.endswith("/count")):
            self._merge(name, tokens)

    def _merge(self, name: str, tokens: Moments) -> None:
        """Add a quantity's moments; where its squares and its smallest were not kept, nobody asks for them."""
        unknown = np.full(len(tokens[f"{name}count"]), np.nan)
        kept = (tokens.get(f"{name}{stat}", unknown) for stat in ("count", "mean", "m2", "max", "min"))
        self._spreads[name].merge(*kept)

    def _combined(self) -> Iterator[tuple[str, float]]:
        """Metrics of more than one quantity, or of one turned around."""
        of = self._spreads
        for suffix in ("", "_mc"):
            if f"value_error{suffix}/" in of:
                error, returned = of[f"value_error{suffix}/"], of[f"valued_return{suffix}/"].variance
                yield f"critic/bias{suffix}", -error.mean
                yield f"critic/explained_variance{suffix}", 1 - error.variance / returned if returned > 0 else math.nan
        if "mismatch/" in of:
            yield "mismatch/kl", -of["mismatch/"].mean
            yield "mismatch/ppl_ratio", float(formulas.probability(np.array(-of["mismatch/"].mean)))
        if "clip_low/" in of:
            yield "update/clip_share", of["clip_low/"].mean + of["clip_high/"].mean
            yield "update/policy_kl", -of["update/"].mean
        for name, suffix in (("mismatch_weight/", ""), ("sequence_weight", "_sequence")):
            if name in of:
                yield f"mismatch/chi2{suffix}", of[name].square - 1
                yield f"mismatch/ess{suffix}", of[name].mean * of[name].mean / of[name].square if of[name].square else math.nan


def _grouped(groups: Mapping[bytes, Spread]) -> dict[str, float]:
    """How rewards differ within groups; nothing where no group has a second scored member."""
    several = [group for group in groups.values() if group.count > 1]
    if not several:
        return {}
    return {
        "groups/zero_std_share": float(np.mean([group.max == group.min for group in several])),
        "groups/std_mean": float(np.mean([group.std for group in several])),
    }
