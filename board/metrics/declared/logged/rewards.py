"""What trainers log of rewards, KL and advantages by other averages than the board's, or from what rows do not hold."""

from typing import Final

from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

GRPO = "re-grpo"
PADDED = "over every position of the padded batch, those that are not the response's as 0"
TERM = reading(
    "",
    (
        "If one term of the reward outweighs the others, the policy works for that one alone: read its responses.",
        "若奖励中某一项压过其余各项，策略就只为它而学：请阅读回答。",
    ),
    look="responses",
)
BETA = reading(
    "",
    (
        "It is constant unless it adapts. If an adaptive one runs to an extreme, it no longer holds the KL: compare the two.",
        "除非自适应，否则不变。自适应系数若跑到极端，就再也控制不住 KL：请对照二者。",
    ),
)
CLIPPED = reading(
    "down",
    (
        "If it grows, rewards are cut and differences between responses are lost: widen the bound or scale the rewards.",
        "若增大，说明奖励被截断，回答之间的差别丢失：请放宽范围或缩放奖励。",
    ),
)

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "reward/penalty_coefficient",
        "no unit",
        "beta, the factor of the KL penalty in the reward",
        "TRL, PPO Trainer",
        ("Weight of the KL penalty in the reward.", "奖励中 KL 惩罚的系数。"),
        BETA,
        names=(
            Name("roll", "critic/kl_coef"),
            Name("trl", "objective/kl_coef"),
            Name("verl", "actor/reward_kl_penalty_coeff"),
            Name("verl", "critic/kl_coeff"),
        ),
    ),
    metric(
        "reward/clip_share",
        "share, 0 to 1",
        "share of rollouts whose reward was cut at the bound",
        "ROLL, Trackers and Metrics",
        ("Share of rewards cut at the bound.", "被截断的奖励所占比例。"),
        CLIPPED,
        names=(Name("roll", "critic/reward_clip_frac"),),
    ),
    metric(
        "reward/batch/{path}",
        "reward",
        "returns of a batch, as the trainer names them",
        GRPO,
        ("Returns of a batch in more detail.", "一个批次回报的明细。"),
        TERM,
        names=(Name("re-grpo", "batch_returns/{path}"),),
    ),
    metric(
        "reward/component/{name}/mean",
        "reward",
        "mean over rollouts of one term of the reward",
        "verl, GDPO metrics",
        ("Mean of one term of the reward.", "奖励某一组成部分的平均值。"),
        TERM,
        names=(
            Name("trl-grpo", "rewards/{name}/mean"),
            Name("verl", "gdpo/{name}/mean"),
        ),
    ),
    metric(
        "reward/component/{name}/std",
        "reward",
        "standard deviation over rollouts of one term of the reward",
        "verl, GDPO metrics",
        ("Spread of one term of the reward (standard deviation).", "奖励某一组成部分的离散程度（标准差）。"),
        TERM,
        names=(
            Name("trl-grpo", "rewards/{name}/std"),
            Name("verl", "gdpo/{name}/std"),
        ),
    ),
    metric(
        "reward/component/{name}/max",
        "reward",
        "largest of one term of the reward over rollouts",
        "verl, GDPO metrics",
        ("Largest of one term of the reward.", "奖励某一组成部分的最大值。"),
        TERM,
        names=(Name("verl", "gdpo/{name}/max"),),
    ),
    metric(
        "reward/component/{name}/min",
        "reward",
        "smallest of one term of the reward over rollouts",
        "verl, GDPO metrics",
        ("Smallest of one term of the reward.", "奖励某一组成部分的最小值。"),
        TERM,
        names=(Name("verl", "gdpo/{name}/min"),),
    ),
)
