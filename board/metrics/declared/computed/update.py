"""Metrics of the update: the policy after it against the policy before it, where rows hold both logprobs.

r = exp(logprob - old_logprob) on a token.
"""

from typing import Final

from board.metrics.declared.computation import applied, over_tokens
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading
from board.metrics.declared.dialects import roll, trl, trl_grpo, verl

TRL = "TRL, PPO Trainer"
ROLL = "ROLL, Trackers and Metrics"
PPO = "Schulman et al. 2017 (PPO), arXiv:1707.06347; " + TRL
SCHULMAN = "Schulman 2020, http://joschu.net/blog/kl-approx.html"

NEAR_ONE = reading(
    "steady",
    (
        "It should float around 1. At 2.0 or 0.1 the update is too drastic: lower the learning rate or the number of epochs.",
        "应在 1 附近浮动。到 2.0 或 0.1 说明更新过于剧烈：请降低学习率或减少 epoch 数。",
    ),
    look="tokens",
    low=0.1,
    high=2.0,
    open_range=True,
)
FAR = reading(
    "",
    (
        "If it is far from 1, a few tokens were pushed hard, most often unlikely ones: find them.",
        "若远离 1，说明少数 token 被大幅推动，往往是低概率 token：请找出它们。",
    ),
    look="tokens",
)
UNEVEN = reading(
    "",
    (
        "It should stay near 0. If it grows, the update moves some tokens far more than others: find them.",
        "应接近 0。若增大，说明更新对部分 token 的影响远大于其他 token：请找出它们。",
    ),
    look="tokens",
)
CLIPPED = reading(
    "",
    (
        "A sudden rise means that the update is too big; if it stays at 0, the update is very small. Compare the two sides.",
        "突然升高说明更新幅度过大；长期为 0 说明更新幅度很小。请比较上下两侧。",
    ),
    look="tokens",
    never=("stopped",),
)
STEP = reading(
    "steady",
    (
        "It should stay small. A spike is an update that changed the policy at once: look at reward and KL after it. If it falls to 0 "
        "for good, the policy no longer moves.",
        "应保持较小。尖峰说明某次更新一下子改变了策略：请查看其后的奖励与 KL。若从某步起一直为 0，说明策略不再变化。",
    ),
    never=("stopped",),
)

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "update/ratio_mean",
        "ratio",
        "mean over tokens of r",
        TRL,
        (
            "Mean ratio of a token's probability under the new policy to that under the old.",
            "新旧策略对同一 token 的概率之比的平均值。",
        ),
        NEAR_ONE,
        over_tokens("update_ratio", "mean"),
        names=(
            Name("roll", "actor/ratio_mean", roll.UPDATES),
            Name("trl", "val/ratio", trl.PADDED),
        ),
    ),
    metric(
        "update/ratio_max",
        "ratio",
        "largest over tokens of r",
        ROLL,
        ("Largest ratio of new to old probability of a token.", "单个 token 新旧概率之比的最大值。"),
        FAR,
        over_tokens("update_ratio", "max"),
        names=(Name("roll", "actor/ratio_max", roll.UPDATES),),
    ),
    metric(
        "update/ratio_min",
        "ratio",
        "smallest over tokens of r",
        ROLL,
        ("Smallest ratio of new to old probability of a token.", "单个 token 新旧概率之比的最小值。"),
        FAR,
        over_tokens("update_ratio", "min"),
        names=(Name("roll", "actor/ratio_min", roll.UPDATES),),
    ),
    metric(
        "update/ratio_variance",
        "no unit",
        "variance over tokens of r (ddof 0)",
        TRL,
        ("Variance of the ratio of new to old probability.", "新旧概率之比的方差。"),
        UNEVEN,
        over_tokens("update_ratio", "variance"),
    ),
    metric(
        "update/clip_low_share",
        "share, 0 to 1",
        "share of tokens with r < 0.8 (epsilon 0.2)",
        ROLL,
        ("Share of tokens made less likely than the clip range allows.", "概率降幅超过裁剪下界的 token 比例。"),
        CLIPPED,
        over_tokens("clip_low", "mean"),
        names=(Name("roll", "actor/ppo_ratio_low_clipfrac", roll.EPSILON),),
    ),
    metric(
        "update/clip_high_share",
        "share, 0 to 1",
        "share of tokens with r > 1.2 (epsilon 0.2)",
        ROLL,
        ("Share of tokens made more likely than the clip range allows.", "概率升幅超过裁剪上界的 token 比例。"),
        CLIPPED,
        over_tokens("clip_high", "mean"),
        names=(Name("roll", "actor/ppo_ratio_high_clipfrac", roll.EPSILON),),
    ),
    metric(
        "update/clip_share",
        "share, 0 to 1",
        "share of tokens with r < 0.8 or r > 1.2 (epsilon 0.2)",
        ROLL,
        ("Share of tokens outside the clip range on either side.", "超出裁剪范围（任意一侧）的 token 比例。"),
        CLIPPED,
        applied("sum", over_tokens("clip_low", "mean"), over_tokens("clip_high", "mean")),
        names=(Name("roll", "actor/ppo_ratio_clipfrac", roll.EPSILON),),
    ),
    metric(
        "update/approxkl",
        "nats per token",
        "mean over tokens of (log r)² / 2",
        f"{SCHULMAN}; {TRL}",
        ("Approximate KL between the policies before and after the update.", "更新前后两个策略之间的近似 KL。"),
        STEP,
        over_tokens("update_k2", "mean"),
        names=(
            Name("roll", "actor/approxkl", roll.UPDATES),
            Name("trl", "policy/approxkl_avg", trl.PADDED),
        ),
    ),
    metric(
        "update/objective_clip_share",
        "share, 0 to 1",
        "share of tokens with r < 0.8 and a negative advantage, or r > 1.2 and a positive one",
        PPO,
        ("Share of tokens on which clipping changed the objective.", "裁剪实际改变了目标的 token 比例。"),
        CLIPPED,
        over_tokens("clipped", "mean"),
        names=(
            Name("roll", "actor/clipfrac", roll.EPSILON),
            Name("trl", "policy/clipfrac_avg", trl.PADDED),
            Name("trl-grpo", "clip_ratio/region_mean", trl_grpo.UPDATES),
            Name("verl", "actor/pg_clipfrac", verl.UPDATES),
        ),
    ),
    metric(
        "update/policy_kl",
        "nats per token",
        "mean over tokens of old_logprob - logprob: k1 of KL(old‖new)",
        SCHULMAN,
        ("KL from the policy before the update to the one after it, by k1.", "更新前策略到更新后策略的 KL（k1 估计）。"),
        STEP,
        applied("negative", over_tokens("update", "mean")),
        names=(Name("verl", "actor/ppo_kl", verl.UPDATES),),
    ),
    metric(
        "update/log_ratio_mean",
        "nats per token",
        "mean over tokens of logprob - old_logprob",
        ROLL,
        ("Mean log-ratio of the new to the old probability of a token.", "新旧概率之比的对数的平均值。"),
        STEP,
        over_tokens("update", "mean"),
        names=(Name("roll", "actor/policykl", roll.EXACT),),
    ),
)
