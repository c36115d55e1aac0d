"""What the trainer alone knows of the critic: its values while it is updated."""

from typing import Final

from board.metrics.declared.computed.critic import ERROR, LEVEL
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

ROLL = "ROLL, Trackers and Metrics"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "critic/update_value_mean",
        "reward",
        "mean of the critic's values while it is updated",
        ROLL,
        ("Mean value the critic gives a token during the update.", "更新过程中价值模型对每个 token 的平均估值。"),
        LEVEL,
        names=(
            Name("roll", "critic/vpred"),
            Name("verl", "critic/vpred_mean"),
        ),
    ),
    metric(
        "critic/update_error",
        "reward²",
        "mean of (v - G)², v of the critic while it is updated",
        ROLL,
        ("Mean squared error of the critic's values during the update.", "更新过程中价值与回报之间的均方误差。"),
        ERROR,
        names=(Name("roll", "critic/error"),),
    ),
    metric(
        "critic/clip_share",
        "share, 0 to 1",
        "share of tokens whose clipped value loss exceeds the unclipped one, over the step's updates",
        "Huang et al. 2024 (N+ details), arXiv:2403.17031; TRL, PPO Trainer",
        ("Share of tokens on which clipping of values took effect.", "价值裁剪生效的 token 比例。"),
        reading(
            "",
            (
                "If it is high, clipping holds the critic back while returns move: compare the explained variance. If it falls to 0 "
                "for good, values hardly move any more.",
                "比例过高会在回报变化时拖住价值模型：请对照可解释方差。若从某步起一直为 0，说明价值几乎不再变化。",
            ),
            look="tokens",
            never=("stopped",),
        ),
        names=(
            Name("roll", "critic/clipfrac"),
            Name("trl", "val/clipfrac_avg"),
            Name("verl", "critic/vf_clipfrac"),
        ),
    ),
)
