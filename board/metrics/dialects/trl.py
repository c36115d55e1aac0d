"""The names of TRL's PPO trainer. The trainer they all go through puts "train/" before them in TensorBoard and W&B."""

from typing import Final

from board.metrics.declared.contract import Dialect, Words

PADDED: Final = Words(
    "TRL averages over the update's minibatches, padding counted as unchanged.",
    "TRL 对更新中各小批量取平均，并把填充位置按“未改变”计入。",
)
ESTIMATOR: Final = Words(
    "With kl_estimator k3 TRL logs the sum of k3 instead.",
    "若 kl_estimator 设为 k3，TRL 记录的是 k3 之和。",
)
PADDING: Final = Words(
    "Releases that do not mask padding count each padding token as -1.",
    "未掩码填充位置的版本会把每个填充 token 按 -1 计入。",
)
WHITENED: Final = Words(
    "TRL takes it before rewards are whitened; rows may hold them after.",
    "TRL 取白化之前的奖励；数据行中的可能是白化之后的。",
)

TRL: Final = Dialect(
    "trl",
    "TRL (PPO)",
    {
        "objective/scores": "reward/mean",
        "objective/rlhf_reward": "reward/shaped_mean",
        "objective/non_score_reward": "reward/penalty_mean",
        "objective/kl_coef": "reward/penalty_coefficient",
        "objective/kl": "kl/k1_sum_mean",
        "objective/entropy": "policy/surprisal_sum_mean",
        "policy/entropy_avg": "policy/update_entropy",
        "policy/approxkl_avg": "update/approxkl",
        "policy/clipfrac_avg": "update/objective_clip_share",
        "val/ratio": "update/ratio_mean",
        "val/ratio_var": "update/ratio_batch_variance",
        "val/clipfrac_avg": "critic/clip_share",
        "val/num_eos_tokens": "length/eos_count",
        "loss/policy_avg": "loss/policy",
        "loss/value_avg": "loss/value",
        "lr": "optimiser/learning_rate",
        "episode": "counts/rollouts_total",
        "eps": "system/episodes_per_second",
    },
    remarks={
        "objective/kl": ESTIMATOR,
        "objective/entropy": PADDING,
        "objective/rlhf_reward": WHITENED,
        "objective/non_score_reward": WHITENED,
        "policy/approxkl_avg": PADDED,
        "policy/clipfrac_avg": PADDED,
        "val/ratio": PADDED,
    },
    prefixes=("train/",),
)
