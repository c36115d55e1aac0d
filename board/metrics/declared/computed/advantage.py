"""Metrics of advantages and returns, over tokens."""

from typing import Final

from board.metrics.declared.computation import over_rollouts, over_tokens
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading
from board.metrics.declared.dialects import re_grpo

CENTRED = reading(
    "steady",
    (
        "It should be near 0 where advantages are whitened or taken within groups. If not, check masks, groups and lengths.",
        "若优势经过白化或按组计算，应接近 0。若不是，请检查掩码、分组与回答长度。",
    ),
    look="data",
)
SCALED = reading(
    "steady",
    (
        "It should be near 1 where advantages are whitened. At 0 there is nothing left to learn from; if it grows, updates get rough.",
        "若优势经过白化，应接近 1。降到 0 说明没有可学的信号；升高则更新会变得剧烈。",
    ),
)
TAIL = reading(
    "",
    (
        "If it jumps, a few tokens steer the whole update: find them.",
        "若跳变，说明少数 token 左右了整个更新：请找出它们。",
    ),
    look="tokens",
)
LEAN = reading(
    "",
    (
        "Far above 0, a few large gains stand against many small losses; far below, the reverse. See which rollouts they are.",
        "远大于 0：少数大的正优势对应大量小的负优势；远小于 0 则相反。请查看是哪些 rollout。",
    ),
    look="responses",
)
RETURN = reading(
    "up",
    (
        "It should rise with the reward. If it does not, the KL penalty or the values it is bootstrapped from take the difference.",
        "应随奖励一同上升。若没有，差额来自 KL 惩罚或价值的自举。",
    ),
    look="tokens",
)
GAE = "Schulman et al. 2015 (GAE), arXiv:1506.02438"
PLUS = "Huang et al. 2024 (N+ details), arXiv:2403.17031"
ROLL = "ROLL, Trackers and Metrics"
RE_GRPO = "re-grpo"
DR_GRPO = "re-grpo, Dr. GRPO"
UNIT = "reward"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "advantage/mean",
        UNIT,
        "mean over tokens of the advantage",
        PLUS,
        ("Mean advantage of a token.", "每个 token 的平均优势。"),
        CENTRED,
        over_tokens("advantage", "mean"),
        names=(
            Name("roll", "critic/advantages/mean"),
            Name("verl", "critic/advantages/mean"),
        ),
    ),
    metric(
        "advantage/std",
        UNIT,
        "standard deviation over tokens of the advantage (ddof 0)",
        PLUS,
        ("Spread of the tokens' advantages (standard deviation).", "各 token 优势的离散程度（标准差）。"),
        SCALED,
        over_tokens("advantage", "std"),
    ),
    metric(
        "advantage/variance",
        "reward²",
        "variance over tokens of the advantage (ddof 0)",
        "re-grpo",
        ("Variance of the tokens' advantages.", "各 token 优势的方差。"),
        SCALED,
        over_tokens("advantage", "variance"),
    ),
    metric(
        "advantage/skewness",
        "no unit",
        "mean over tokens of ((advantage - mean) / standard deviation)³",
        "re-grpo",
        (
            "Skewness of the advantages: above 0, a few are large and positive; below 0, a few are large and negative.",
            "优势分布的偏度：大于 0 说明少数优势为很大的正值，小于 0 说明少数优势为很大的负值。",
        ),
        LEAN,
        over_tokens("advantage", "skewness"),
    ),
    metric(
        "advantage/max",
        UNIT,
        "largest advantage of a token",
        ROLL,
        ("Largest advantage of a token of the step.", "该步单个 token 的最大优势。"),
        TAIL,
        over_tokens("advantage", "max"),
        names=(
            Name("roll", "critic/advantages/max"),
            Name("verl", "critic/advantages/max"),
        ),
    ),
    metric(
        "advantage/min",
        UNIT,
        "smallest advantage of a token",
        ROLL,
        ("Smallest advantage of a token of the step.", "该步单个 token 的最小优势。"),
        TAIL,
        over_tokens("advantage", "min"),
        names=(
            Name("roll", "critic/advantages/min"),
            Name("verl", "critic/advantages/min"),
        ),
    ),
    metric(
        "returns/mean",
        UNIT,
        "mean over tokens of the return",
        GAE,
        ("Mean return of a token: what the critic is trained towards.", "每个 token 的平均回报，即价值模型的训练目标。"),
        RETURN,
        over_tokens("return", "mean"),
        family="advantage",
        names=(
            Name("roll", "critic/returns/mean"),
            Name("verl", "critic/returns/mean"),
        ),
    ),
    metric(
        "returns/max",
        UNIT,
        "largest return of a token",
        ROLL,
        ("Largest return of a token of the step.", "该步单个 token 的最大回报。"),
        TAIL,
        over_tokens("return", "max"),
        family="advantage",
        names=(
            Name("roll", "critic/returns/max"),
            Name("verl", "critic/returns/max"),
        ),
    ),
    metric(
        "returns/min",
        UNIT,
        "smallest return of a token",
        ROLL,
        ("Smallest return of a token of the step.", "该步单个 token 的最小回报。"),
        TAIL,
        over_tokens("return", "min"),
        family="advantage",
        names=(
            Name("roll", "critic/returns/min"),
            Name("verl", "critic/returns/min"),
        ),
    ),
    metric(
        "advantage/rollout_mean",
        "reward",
        "mean over rollouts of the rollout's advantage",
        RE_GRPO,
        ("Mean advantage of a rollout, long and short ones alike.", "每条 rollout 的平均优势，长短权重相同。"),
        CENTRED,
        over_rollouts("advantage/mean", "mean"),
        names=(Name("re-grpo", "rollouts/advantages_mean"),),
    ),
    metric(
        "advantage/rollout_std",
        "reward",
        "standard deviation over rollouts of the rollout's advantage",
        RE_GRPO,
        ("Spread of the rollouts' advantages (standard deviation).", "各 rollout 优势的离散程度（标准差）。"),
        SCALED,
        over_rollouts("advantage/mean", "std"),
        names=(Name("re-grpo", "rollouts/advantages_std", re_grpo.SAMPLE),),
    ),
    metric(
        "advantage/rollout_variance",
        "reward²",
        "variance over rollouts of the rollout's advantage",
        DR_GRPO,
        ("Variance of the rollouts' advantages.", "各 rollout 优势的方差。"),
        SCALED,
        over_rollouts("advantage/mean", "variance"),
        names=(Name("re-grpo", "dr_grpo/advantages_variance"),),
    ),
    metric(
        "advantage/rollout_skewness",
        "no unit",
        "skewness over rollouts of the rollout's advantage",
        DR_GRPO,
        ("Which way the rollouts' advantages lean (skewness).", "各 rollout 优势分布的偏度。"),
        LEAN,
        over_rollouts("advantage/mean", "skewness"),
        names=(Name("re-grpo", "dr_grpo/advantages_skewness"),),
    ),
)
