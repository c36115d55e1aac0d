"""What the trainer alone knows of the update: ratios, clipping and entropy while it ran."""

from typing import Final

from board.metrics.declared.computed.update import CLIPPED, UNEVEN
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

ROLL = "ROLL, Trackers and Metrics"
PPO = "Schulman et al. 2017 (PPO), arXiv:1707.06347"
GRPO = "TRL, GRPO Trainer"
SCHULMAN = "Schulman 2020, http://joschu.net/blog/kl-approx.html"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "update/dual_clip_share",
        "share, 0 to 1",
        "share of tokens with a negative advantage whose loss is cut at a constant times the advantage",
        "Ye et al. 2020 (dual-clip PPO), arXiv:1912.09729",
        (
            "Share of tokens on which the second clip, for bad tokens made likely, took effect.",
            "第二重裁剪（针对概率过高的坏 token）生效的比例。",
        ),
        CLIPPED,
        names=(Name("verl", "actor/pg_clipfrac_lower"),),
    ),
    metric(
        "update/ratio_batch_variance",
        "no unit",
        "variance over the step's minibatches of the minibatch's mean ratio of new to old probability",
        "TRL, PPO Trainer",
        ("Variance between minibatches of the mean ratio of new to old probability.", "各小批量平均概率比之间的方差。"),
        UNEVEN,
        names=(Name("trl", "val/ratio_var"),),
    ),
    metric(
        "policy/update_entropy",
        "nats per token",
        "mean over tokens of the entropy of the policy's distribution, over the step's updates",
        "verl, PPO metrics",
        ("Mean entropy of the policy per token during the update.", "更新过程中策略每个 token 的平均熵。"),
        reading(
            "",
            (
                "A slow fall is learning, a fast one collapse: the policy stops exploring. Look at the tokens it is sure of.",
                "缓慢下降是在学习，快速下降是坍缩：策略不再探索。请查看它十分确定的 token。",
            ),
            look="tokens",
        ),
        names=(Name("verl", "actor/entropy_loss"),),
    ),
    metric(
        "update/objective_clip_low_share",
        "share, 0 to 1",
        "share of tokens with a ratio below 1 - epsilon and a negative advantage",
        GRPO,
        (
            "Share of tokens that were made unlikely enough, where the clip took effect.",
            "概率已被压得够低、裁剪因而生效的 token 比例。",
        ),
        CLIPPED,
        names=(Name("trl-grpo", "clip_ratio/low_mean"),),
    ),
    metric(
        "update/objective_clip_low_min",
        "share, 0 to 1",
        "smallest over rollouts of the share of tokens with a ratio below 1 - epsilon and a negative advantage",
        GRPO,
        ("Least share of a response's tokens clipped from below.", "单个回答中被下侧裁剪的 token 比例的最小值。"),
        CLIPPED,
        names=(Name("trl-grpo", "clip_ratio/low_min"),),
    ),
    metric(
        "update/objective_clip_high_share",
        "share, 0 to 1",
        "share of tokens with a ratio above 1 + epsilon and a positive advantage",
        GRPO,
        (
            "Share of tokens that were made likely enough, where the clip took effect.",
            "概率已被抬得够高、裁剪因而生效的 token 比例。",
        ),
        CLIPPED,
        names=(Name("trl-grpo", "clip_ratio/high_mean"),),
    ),
    metric(
        "update/objective_clip_high_max",
        "share, 0 to 1",
        "largest over rollouts of the share of tokens with a ratio above 1 + epsilon and a positive advantage",
        GRPO,
        ("Largest share of a response's tokens clipped from above.", "单个回答中被上侧裁剪的 token 比例的最大值。"),
        CLIPPED,
        names=(Name("trl-grpo", "clip_ratio/high_max"),),
    ),
    metric(
        "update/weight_clip_share",
        "share, 0 to 1",
        "share of tokens with a ratio above the bound of CISPO and a positive advantage",
        "MiniMax 2025 (CISPO), arXiv:2506.13585",
        ("Share of tokens whose importance weight was cut by CISPO.", "重要性权重被 CISPO 截断的 token 比例。"),
        CLIPPED,
        names=(Name("trl-grpo", "cispo_clip_ratio"),),
    ),
    metric(
        "update/sequence_weight_mean",
        "ratio",
        "mean over rollouts of the weight that VESPO gives a whole response",
        GRPO,
        ("Mean weight of a response in the update, by VESPO.", "VESPO 更新中回答的平均权重。"),
        UNEVEN,
        names=(Name("trl-grpo", "vespo/phi_seq_mean"),),
    ),
    metric(
        "policy/entropy_coefficient",
        "no unit",
        "factor of the entropy in the loss",
        GRPO,
        ("Weight of the entropy in the loss.", "损失中熵的系数。"),
        reading(
            "",
            (
                "It is constant unless it adapts. If an adaptive one runs to an extreme, it no longer holds the entropy: compare the two.",
                "除非自适应，否则不变。自适应系数若跑到极端，就再也控制不住熵：请对照二者。",
            ),
        ),
        names=(Name("trl-grpo", "entropy_coef"),),
    ),
)
