"""ROLL's names. Of the update's ratios ROLL logs those of its minibatches; the board's need both logprobs in the rows."""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

PHASES: Final = {f"time/{{phase}}/{part}": f"time/{{phase}}/{part}" for part in ("total", "execute", "onload", "offload")}
STATS: Final = ("allocated", "reserved", "max_allocated", "max_reserved", "max_allocated_frac", "max_reserved_frac")
GPU: Final = {
    f"memory/{{phase}}/{{when}}/{{state}}/{stat}/{{device}}": f"memory/{{phase}}/{{when}}/{{state}}/{stat}/{{device}}"
    for stat in STATS
}
CPU: Final = {f"memory/cpu/{{phase}}/{{when}}/{stat}": f"memory/cpu/{{phase}}/{{when}}/{stat}" for stat in ("rss", "vms")}

UPDATES: Final = Words(
    "ROLL averages over the update's minibatches, and means over rollouts rather than tokens.",
    "ROLL 对更新中各小批量取平均，且均值按 rollout 而非 token 计算。",
)
EPSILON: Final = Words(
    "ROLL clips at its own epsilon, and averages over the update's minibatches.",
    "ROLL 使用自己配置的 epsilon，并对更新中各小批量取平均。",
)
AGGREGATED: Final = Words(
    "ROLL averages as its loss does (loss_agg_mode), which may be over rollouts, or of sums, instead of over tokens.",
    "ROLL 按损失的聚合方式（loss_agg_mode）取平均：可能是对 rollout 取平均，也可能先对 token 求和。",
)
PENALTY: Final = Words(
    "The estimator is the one configured for the penalty (kl_penalty), k1 unless it is said otherwise.",
    "估计量取决于惩罚的配置（kl_penalty），默认为 k1。",
)

ROLL: Final = Dialect(
    "roll",
    "ROLL",
    {
        "val/score/mean": "evaluation/mean",
        "val/score/max": "evaluation/max",
        "val/score/min": "evaluation/min",
        "critic/score/mean": "reward/mean",
        "critic/score/max": "reward/max",
        "critic/score/min": "reward/min",
        "critic/rewards/mean": "reward/shaped_mean",
        "critic/rewards/max": "reward/shaped_max",
        "critic/rewards/min": "reward/shaped_min",
        "critic/reward_clip_frac": "reward/clip_share",
        "critic/kl": "kl/k1_rollout_mean",
        "critic/kl_coef": "reward/penalty_coefficient",
        "critic/old_log_prob/mean": "policy/old_logprob_mean",
        "critic/ref_log_prob/mean": "policy/ref_logprob_mean",
        "critic/entropy/mean": "policy/entropy_mean",
        "actor/ratio_mean": "update/ratio_mean",
        "actor/ratio_max": "update/ratio_max",
        "actor/ratio_min": "update/ratio_min",
        "actor/ppo_ratio_high_clipfrac": "update/clip_high_share",
        "actor/ppo_ratio_low_clipfrac": "update/clip_low_share",
        "actor/ppo_ratio_clipfrac": "update/clip_share",
        "actor/clipfrac": "update/objective_clip_share",
        "actor/approxkl": "update/approxkl",
        "actor/policykl": "update/log_ratio_mean",
        "critic/values/mean": "critic/value_mean",
        "critic/values/max": "critic/value_max",
        "critic/values/min": "critic/value_min",
        "critic/value": "critic/value_rollout_mean",
        "critic/vpred": "critic/update_value_mean",
        "critic/error": "critic/update_error",
        "critic/clipfrac": "critic/clip_share",
        "critic/advantages/mean": "advantage/mean",
        "critic/advantages/max": "advantage/max",
        "critic/advantages/min": "advantage/min",
        "critic/returns/mean": "returns/mean",
        "critic/returns/max": "returns/max",
        "critic/returns/min": "returns/min",
        "tokens/response_length/mean": "length/mean",
        "tokens/response_length/max": "length/max",
        "tokens/response_length/min": "length/min",
        "tokens/prompt_length/mean": "length/prompt_mean",
        "tokens/prompt_length/max": "length/prompt_max",
        "tokens/prompt_length/min": "length/prompt_min",
        "actor/total_loss": "loss/total",
        "actor/pg_loss": "loss/policy",
        "actor/weighted_pg_loss": "loss/policy_weighted",
        "actor/kl_loss": "loss/kl",
        "actor/sft_loss": "loss/sft",
        "actor/positive_sft_loss": "loss/sft_positive",
        "actor/negative_sft_loss": "loss/sft_negative",
        "actor/sample_weights_mean": "loss/sample_weight_mean",
        "actor/sample_weights_min": "loss/sample_weight_min",
        "actor/sample_weights_max": "loss/sample_weight_max",
        "critic/loss": "loss/value",
        "actor/lr": "optimiser/learning_rate",
        "critic/lr": "optimiser/critic_learning_rate",
        "actor_train/grad_norm": "optimiser/grad_norm",
        "actor/valid_samples": "counts/valid_samples",
        "actor/total_samples": "counts/samples",
        "actor/valid_sample_ratio": "counts/valid_sample_share",
        "system/samples": "counts/samples_total",
        "system/tps": "system/tokens_per_second",
        "time/rollout": "time/rollout",
        "time/ref_log_probs_values_reward": "time/reference_values_reward",
        "time/old_log_probs_values": "time/old_logprobs_values",
        "time/adv": "time/advantages",
        **PHASES,
        **GPU,
        **CPU,
    },
    remarks={
        "critic/entropy/mean": AGGREGATED,
        "actor/ratio_mean": UPDATES,
        "actor/ratio_max": UPDATES,
        "actor/ratio_min": UPDATES,
        "actor/ppo_ratio_high_clipfrac": EPSILON,
        "actor/ppo_ratio_low_clipfrac": EPSILON,
        "actor/ppo_ratio_clipfrac": EPSILON,
        "actor/clipfrac": EPSILON,
        "actor/approxkl": UPDATES,
        "actor/policykl": UPDATES,
        "critic/kl": PENALTY,
    },
    suffixes=("@sum", "@mean", "@max", "@min"),
)
