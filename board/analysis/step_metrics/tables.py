"""How each metric of the catalogue is computed from rollouts, by its key: the tables, family by family.

The formulas over tokens are in `board.metrics.formulas` and `board.metrics.token_sums`, what a step makes of them in `board.metrics.step_sums`.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from board.analysis.step_metrics.data import Compute, StepData
from board.analysis.step_metrics.groups import GROUP_METRICS, group_rewards, group_sizes
from board.analysis.step_metrics.kinds import (
    all_rollouts,
    explained,
    known,
    largest,
    over_rollouts,
    pooled,
    rollout_sums,
    running,
    share,
    smallest,
    squared,
    token_mean,
    token_std,
)
from board.metrics.formulas import Float64Array


def _best_so_far(data: StepData) -> Float64Array:
    means = data.steps.mean(data.column("reward"))
    return np.fmax.accumulate(means) if len(means) else means


def _exp(values: Float64Array) -> Float64Array:
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(values)


def _rise(data: StepData) -> Float64Array:
    """How much higher the trainer's log-perplexity of each response is than the inference engine's, (rollouts,)."""
    return -data.moment("mismatch", "mean")


def _rollout_weights(data: StepData) -> Float64Array:
    """exp of the summed mismatch of each rollout, (rollouts,)."""
    return _exp(data.moment("mismatch", "sum"))


def _chi2_of_rollouts(data: StepData) -> Float64Array:
    with np.errstate(over="ignore"):
        return data.steps.mean(np.square(_rollout_weights(data))) - 1


def _effective(count: Float64Array, total: Float64Array, squares: Float64Array) -> Float64Array:
    """Effective sample size over the number of samples: (sum w)^2 / (n sum w^2)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.square(total) / (count * squares)


def _effective_tokens(data: StepData) -> Float64Array:
    weights = data.pooled("mismatch_weight")
    return _effective(weights.count, weights.count * weights.mean, weights.m2 + weights.count * np.square(weights.mean))


def _effective_rollouts(data: StepData) -> Float64Array:
    weights = _rollout_weights(data)
    with np.errstate(over="ignore"):
        return _effective(data.steps.count(weights), data.steps.sum(weights), data.steps.sum(np.square(weights)))


def _correlation(data: StepData) -> Float64Array:
    # Var(p + q) = Var p + Var q + 2 Cov(p, q)
    trained, sampled, both = (data.pooled(name).variance for name in ("trained_prob", "sampled_prob", "prob_sum"))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (both - trained - sampled) / (2 * np.sqrt(trained * sampled))
    return np.where(np.isfinite(found), np.clip(found, -1, 1), np.nan)


def _group_rewards(stat: str) -> Compute:
    def compute(data: StepData) -> Float64Array:
        return data.once("group_rewards", lambda: group_rewards(data.steps, data.column("reward"), data.column("group")))[stat]

    return compute


def _group_sizes(data: StepData) -> tuple[Float64Array, Float64Array]:
    return group_sizes(data.steps, data.column("group"))


_REWARD: Final[Mapping[str, Compute]] = {
    **all_rollouts("reward/", "reward", "mean", "std", "max", "min", "sum"),
    "reward/best_mean": _best_so_far,
    **all_rollouts("reward/shaped_", "token_reward_sum", "mean", "max", "min"),
    "reward/penalty_mean": lambda data: data.steps.mean(data.column("token_reward_sum") - data.column("reward")),
    "reward/reference_mean": over_rollouts("mean", "ref_reward"),
    "reward/gap_mean": over_rollouts("mean", "reward_gap"),
    "reward/win_rate": share(lambda data: known(data.column("reward_gap") > 0, data.column("reward_gap"))),
    "reward/validation_mean": over_rollouts("mean", "valid_reward"),
}

_KL: Final[Mapping[str, Compute]] = {
    **{f"kl/{short}_mean": token_mean(name) for short, name in (("k1", "log_ratio"), ("k2", "kl_k2"), ("k3", "kl_k3"))},
    **{
        f"kl/{short}_max": over_rollouts("max", f"{name}_max")
        for short, name in (("k1", "log_ratio"), ("k2", "kl_k2"), ("k3", "kl_k3"))
    },
    **{
        f"kl/{short}_sum_mean": over_rollouts("mean", f"{name}_sum")
        for short, name in (("k1", "log_ratio"), ("k2", "kl_k2"), ("k3", "kl_k3"))
    },
    **all_rollouts("kl/k1_rollout_", "log_ratio_mean", "mean", "std", "max"),
    **all_rollouts("kl/k3_rollout_", "kl_k3_mean", "mean", "std", "max"),
    "kl/negative_share": share(lambda data: known(data.column("log_ratio_sum") < 0, data.column("log_ratio_sum"))),
}

_POLICY: Final[Mapping[str, Compute]] = {
    "policy/logprob_mean": token_mean("logprob"),
    "policy/old_logprob_mean": token_mean("trained_logprob"),
    "policy/ref_logprob_mean": token_mean("ref_logprob"),
    "policy/surprisal_sum_mean": lambda data: -rollout_sums("logprob")(data),
    "policy/entropy_mean": token_mean("entropy"),
    "policy/entropy_max": largest("entropy"),
}

_ADVANTAGE: Final[Mapping[str, Compute]] = {
    "advantage/mean": token_mean("advantage"),
    "advantage/std": token_std("advantage"),
    "advantage/variance": pooled("advantage", "variance"),
    "advantage/skewness": pooled("advantage", "skewness"),
    "advantage/max": largest("advantage"),
    "advantage/min": smallest("advantage"),
    **all_rollouts("advantage/rollout_", "advantage_mean", "mean", "std", "variance", "skewness"),
    "returns/mean": token_mean("return"),
    "returns/max": largest("return"),
    "returns/min": smallest("return"),
}

_VALUE: Final[Mapping[str, Compute]] = {
    "critic/value_mean": token_mean("value"),
    "critic/value_rollout_mean": over_rollouts("mean", "value_mean"),
    "critic/value_std": token_std("value"),
    "critic/value_max": largest("value"),
    "critic/value_min": smallest("value"),
    "critic/explained_variance": explained("value_error", "valued_return"),
    "critic/bias": lambda data: -data.pooled("value_error").mean,
    "critic/error": squared("value_error"),
    "critic/td_error": token_mean("td_error"),
    "critic/explained_variance_mc": explained("value_error_mc", "valued_return_mc"),
    "critic/bias_mc": lambda data: -data.pooled("value_error_mc").mean,
}

_LENGTH: Final[Mapping[str, Compute]] = {
    **all_rollouts("length/", "response_length", "mean", "std", "median", "max", "min"),
    "length/chars_mean": over_rollouts("mean", "response_chars"),
    "length/truncated_share": share(lambda data: data.cut_short),
    "length/empty_share": share(lambda data: known(data.column("response_length") == 0, data.column("response_length"))),
    **all_rollouts("length/prompt_", "prompt_length", "mean", "max", "min"),
}

_MISMATCH: Final[Mapping[str, Compute]] = {
    "mismatch/abs_mean": token_mean("mismatch_abs"),
    "mismatch/abs_max": largest("mismatch_abs"),
    "mismatch/prob_diff_mean": token_mean("prob_gap"),
    "mismatch/prob_diff_max": largest("prob_gap"),
    "mismatch/prob_diff_std": token_std("prob_gap"),
    "mismatch/mult_prob_error": token_mean("mismatch_error"),
    "mismatch/kl": lambda data: -data.token_mean("mismatch"),
    "mismatch/k3": token_mean("mismatch_k3"),
    "mismatch/ppl_ratio": lambda data: np.exp(-data.token_mean("mismatch")),
    "mismatch/is_mean": token_mean("mismatch_weight"),
    "mismatch/is_std": token_std("mismatch_weight"),
    "mismatch/is_sequence_mean": lambda data: data.steps.mean(_rollout_weights(data)),
    "mismatch/chi2": lambda data: squared("mismatch_weight")(data) - 1,
    "mismatch/chi2_sequence": _chi2_of_rollouts,
    "mismatch/ess": _effective_tokens,
    "mismatch/ess_sequence": _effective_rollouts,
    "mismatch/correlation": _correlation,
    "mismatch/policy_ppl": lambda data: data.steps.mean(_exp(-data.column("logprob_mean"))),
    "mismatch/policy_log_ppl": lambda data: -data.steps.mean(data.column("logprob_mean")),
    "mismatch/rollout_ppl": lambda data: data.steps.mean(_exp(-data.column("rollout_logprob_mean"))),
    "mismatch/rollout_log_ppl": lambda data: -data.steps.mean(data.column("rollout_logprob_mean")),
    "mismatch/log_ppl_diff_mean": lambda data: data.steps.mean(_rise(data)),
    "mismatch/log_ppl_diff_abs": lambda data: data.steps.mean(np.abs(_rise(data))),
    "mismatch/log_ppl_diff_max": lambda data: data.steps.max(_rise(data)),
    "mismatch/log_ppl_diff_min": lambda data: data.steps.min(_rise(data)),
    "mismatch/ppl_ratio_rollout_mean": lambda data: data.steps.mean(_exp(_rise(data))),
}

_UPDATE: Final[Mapping[str, Compute]] = {
    "update/ratio_mean": token_mean("update_ratio"),
    "update/ratio_max": largest("update_ratio"),
    "update/ratio_min": smallest("update_ratio"),
    "update/ratio_variance": pooled("update_ratio", "variance"),
    "update/clip_low_share": token_mean("clip_low"),
    "update/clip_high_share": token_mean("clip_high"),
    "update/clip_share": lambda data: data.token_mean("clip_low") + data.token_mean("clip_high"),
    "update/approxkl": token_mean("update_k2"),
    "update/policy_kl": lambda data: -data.token_mean("update"),
    "update/log_ratio_mean": token_mean("update"),
    "update/objective_clip_share": token_mean("clipped"),
}

_COUNTS: Final[Mapping[str, Compute]] = {
    "counts/rollouts": lambda data: data.steps.sizes,
    "counts/rollouts_total": running(lambda data: data.steps.sizes),
    "counts/tokens": over_rollouts("sum", "response_length"),
    "counts/tokens_total": running(over_rollouts("sum", "response_length")),
}

COMPUTED: Final[Mapping[str, Compute]] = {
    **_REWARD,
    "groups/count": lambda data: _group_sizes(data)[0],
    "groups/size_mean": lambda data: _group_sizes(data)[1],
    **{f"groups/{stat}": _group_rewards(stat) for stat in GROUP_METRICS},
    **_KL,
    **_POLICY,
    **_ADVANTAGE,
    **_VALUE,
    **_LENGTH,
    **_MISMATCH,
    **_UPDATE,
    **_COUNTS,
}
"""`evaluation/...` are not among them: they are `reward/...` of the evaluation's rollouts."""
