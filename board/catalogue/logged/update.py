"""What the trainer alone knows of the update: ratios, clipping and entropy while it ran."""

from typing import Final

from board.catalogue.computed.update import CLIPPED, UNEVEN
from board.catalogue.contract import Metric
from board.catalogue.declare import metric, reading

ROLL = "ROLL, Trackers and Metrics"
PPO = "Schulman et al. 2017 (PPO), arXiv:1707.06347"
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
    ),
    metric(
        "update/ratio_batch_variance",
        "no unit",
        "variance over the step's minibatches of the minibatch's mean ratio of new to old probability",
        "TRL, PPO Trainer",
        ("Variance between minibatches of the mean ratio of new to old probability.", "各小批量平均概率比之间的方差。"),
        UNEVEN,
    ),
    metric(
        "policy/update_entropy",
        "nats per token",
        "mean over tokens of the entropy of the policy's distribution, over the step's updates",
        "TRL, PPO Trainer",
        ("Mean entropy of the policy per token during the update.", "更新过程中策略每个 token 的平均熵。"),
        reading(
            "",
            (
                "A slow fall is learning, a fast one collapse: the policy stops exploring. Look at the tokens it is sure of.",
                "缓慢下降是在学习，快速下降是坍缩：策略不再探索。请查看它十分确定的 token。",
            ),
            look="tokens",
        ),
    ),
)
