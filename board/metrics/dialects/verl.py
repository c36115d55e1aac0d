"""verl's names, of its PPO trainer and what belongs to it.

Its importance weights (rollout_is_*) are cut at a threshold and its perplexity ratio is averaged over rollouts, hence keys of
their own.
"""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

ANSWERED: Final = Words(
    "Rollouts whose response is empty are left out.",
    "verl 不计入回答为空的 rollout。",
)
AGGREGATED: Final = Words(
    "It is averaged as the loss is (loss_agg_mode), which may be over rollouts instead of tokens.",
    "verl 按损失的聚合方式（loss_agg_mode）取平均，可能是对 rollout 而非 token。",
)
PENALTY: Final = Words(
    "The estimator is the one configured for the penalty (kl_penalty), k1 unless it is said otherwise.",
    "估计量取决于惩罚的配置（kl_penalty），默认为 k1。",
)
LIMIT: Final = Words(
    "Responses that fill the limit of length are counted, finished or not.",
    "verl 统计达到长度上限的回答，不论是否写完。",
)
ATTENDED: Final = Words(
    "Every token after the prompt is counted, those of tools included.",
    "verl 统计提示之后的全部 token，包括工具返回的 token。",
)
SAMPLE: Final = Words(
    "It is divided by n - 1, on the board by n.",
    "verl 除以 n - 1，本面板除以 n。",
)
UPDATES: Final = Words(
    "It is averaged over the update's minibatches, and clipped at verl's own epsilon.",
    "verl 对更新中各小批量取平均，并使用自己配置的 epsilon。",
)
LATER: Final = Words(
    "Where the actor logs it as well, its number is the later policy's.",
    "若 actor 也记录同名指标，其数值来自更新之后的策略。",
)

_CORRECTION: Final = {
    "kl": "kl",
    "k3_kl": "k3",
    "chi2_token": "chi2",
    "chi2_seq": "chi2_sequence",
    "ppl_ratio": "ppl_ratio_rollout_mean",
    "training_ppl": "policy_ppl",
    "training_log_ppl": "policy_log_ppl",
    "rollout_ppl": "rollout_ppl",
    "rollout_log_ppl": "rollout_log_ppl",
    "log_ppl_diff": "log_ppl_diff_mean",
    "log_ppl_abs_diff": "log_ppl_diff_abs",
    "log_ppl_diff_max": "log_ppl_diff_max",
    "log_ppl_diff_min": "log_ppl_diff_min",
    "rollout_is_mean": "is_cut_mean",
    "rollout_is_max": "is_cut_max",
    "rollout_is_min": "is_cut_min",
    "rollout_is_std": "is_cut_std",
    "rollout_is_eff_sample_size": "is_cut_ess",
    "rollout_is_ratio_fraction_high": "is_above_share",
    "rollout_is_ratio_fraction_low": "is_below_share",
    "rollout_is_oob_ratio": "is_outside_share",
    "rollout_is_batch_norm_factor": "is_norm_factor",
    "rollout_is_seq_mean": "is_cut_sequence_mean",
    "rollout_is_seq_std": "is_cut_sequence_std",
    "rollout_is_seq_max": "is_cut_sequence_max",
    "rollout_is_seq_min": "is_cut_sequence_min",
    "rollout_is_seq_max_deviation": "is_cut_sequence_deviation",
    "rollout_is_seq_fraction_high": "is_sequence_above_share",
    "rollout_is_seq_fraction_low": "is_sequence_below_share",
    "rollout_rs_{name}": "rejection/{name}",
}
CORRECTION: Final = {f"rollout_corr/{name}": f"mismatch/{key}" for name, key in _CORRECTION.items()}

_SCORES: Final = (
    "mean@{n}",
    "std@{n}",
    *(f"{pick}@{{n}}/{stat}" for pick in ("best", "worst", "maj") for stat in ("mean", "std")),
)
VALIDATION: Final = {
    f"{section}/{{path}}/{score}": f"evaluation/by_source/{{path}}/{score}"
    for section in ("val-core", "val-aux")
    for score in _SCORES
}

VERL: Final = Dialect(
    "verl",
    "verl",
    {
        "critic/score/mean": "reward/mean",
        "critic/score/max": "reward/max",
        "critic/score/min": "reward/min",
        "critic/rewards/mean": "reward/shaped_mean",
        "critic/rewards/max": "reward/shaped_max",
        "critic/rewards/min": "reward/shaped_min",
        "gdpo/{name}/mean": "reward/component/{name}/mean",
        "gdpo/{name}/std": "reward/component/{name}/std",
        "gdpo/{name}/max": "reward/component/{name}/max",
        "gdpo/{name}/min": "reward/component/{name}/min",
        "actor/reward_kl_penalty": "kl/k1_rollout_mean",
        "actor/reward_kl_penalty_coeff": "reward/penalty_coefficient",
        "critic/kl": "kl/k1_rollout_mean",
        "critic/kl_coeff": "reward/penalty_coefficient",
        "actor/entropy": "policy/entropy_mean",
        "actor/entropy_loss": "policy/update_entropy",
        "actor/ppo_kl": "update/policy_kl",
        "actor/pg_clipfrac": "update/objective_clip_share",
        "actor/pg_clipfrac_lower": "update/dual_clip_share",
        "critic/values/mean": "critic/value_mean",
        "critic/values/max": "critic/value_max",
        "critic/values/min": "critic/value_min",
        "critic/vf_explained_var": "critic/explained_variance",
        "critic/vpred_mean": "critic/update_value_mean",
        "critic/vf_clipfrac": "critic/clip_share",
        "critic/advantages/mean": "advantage/mean",
        "critic/advantages/max": "advantage/max",
        "critic/advantages/min": "advantage/min",
        "critic/returns/mean": "returns/mean",
        "critic/returns/max": "returns/max",
        "critic/returns/min": "returns/min",
        "response_length/mean": "length/mean",
        "response_length/max": "length/max",
        "response_length/min": "length/min",
        "response_length/clip_ratio": "length/truncated_share",
        "response_length_non_aborted/mean": "length/finished_mean",
        "response_length_non_aborted/max": "length/finished_max",
        "response_length_non_aborted/min": "length/finished_min",
        "response_length_non_aborted/clip_ratio": "length/finished_truncated_share",
        "response/aborted_ratio": "length/empty_share",
        "prompt_length/mean": "length/prompt_mean",
        "prompt_length/max": "length/prompt_max",
        "prompt_length/min": "length/prompt_min",
        "prompt_length/clip_ratio": "length/prompt_limit_share",
        "num_turns/mean": "length/turns_mean",
        "num_turns/max": "length/turns_max",
        "num_turns/min": "length/turns_min",
        "tool_call_counts/mean": "length/tool_calls_mean",
        "tool_call_counts/max": "length/tool_calls_max",
        "tool_call_counts/min": "length/tool_calls_min",
        "training/rollout_probs_diff_valid": "mismatch/valid",
        "training/rollout_probs_diff_mean": "mismatch/prob_diff_mean",
        "training/rollout_probs_diff_max": "mismatch/prob_diff_max",
        "training/rollout_probs_diff_std": "mismatch/prob_diff_std",
        "training/rollout_actor_probs_pearson_corr": "mismatch/correlation",
        **CORRECTION,
        "val-aux/num_turns/{name}": "evaluation/turns_{name}",
        **VALIDATION,
        "actor/loss": "loss/total",
        "actor/pg_loss": "loss/policy",
        "actor/kl_loss": "loss/kl",
        "actor/kl_coef": "loss/kl_coefficient",
        "critic/vf_loss": "loss/value",
        "actor/lr": "optimiser/learning_rate",
        "actor/grad_norm": "optimiser/grad_norm",
        "critic/lr": "optimiser/critic_learning_rate",
        "critic/grad_norm": "optimiser/critic_grad_norm",
        "training/global_step": "counts/global_step",
        "training/epoch": "counts/epoch",
        "perf/time_per_step": "time/step",
        "timing_s/step": "time/step",
        "timing_s/{path}": "time/stage/{path}",
        "timing_per_token_ms/{path}": "time/per_token/{path}",
        "perf/max_memory_allocated_gb": "memory/gpu_peak_allocated",
        "perf/max_memory_reserved_gb": "memory/gpu_peak_reserved",
        "perf/cpu_memory_used_gb": "memory/cpu_used",
        "perf/throughput": "system/tokens_per_second_per_gpu",
        "perf/total_num_tokens": "system/tokens",
        "perf/mfu/{path}": "system/mfu/{path}",
        "global_seqlen/{name}": "system/balance/{name}",
        "fully_async/{path}": "system/asynchronous/{path}",
        "variance_proxy/proxy1_signal_strength": "other/gradient_signal",
        "variance_proxy/proxy2_total_power": "other/gradient_power",
        "variance_proxy/proxy3_pure_noise": "other/gradient_noise",
        "variance_proxy/expected_a_squared": "other/squared_advantage",
        "variance_proxy/expected_w": "other/score_norm",
    },
    remarks={
        "critic/score/mean": ANSWERED,
        "critic/score/max": ANSWERED,
        "critic/score/min": ANSWERED,
        "critic/rewards/mean": ANSWERED,
        "critic/rewards/max": ANSWERED,
        "critic/rewards/min": ANSWERED,
        "actor/reward_kl_penalty": PENALTY,
        "critic/kl": PENALTY,
        "actor/entropy": AGGREGATED,
        "actor/ppo_kl": UPDATES,
        "actor/pg_clipfrac": UPDATES,
        "response_length/mean": ATTENDED,
        "response_length/max": ATTENDED,
        "response_length/min": ATTENDED,
        "response_length/clip_ratio": LIMIT,
        "training/rollout_probs_diff_std": SAMPLE,
        "rollout_corr/kl": LATER,
        "rollout_corr/k3_kl": LATER,
        "rollout_corr/chi2_token": LATER,
        "rollout_corr/chi2_seq": LATER,
    },
)
