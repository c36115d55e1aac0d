"""Metrics of the reward of evaluation rollouts."""

from typing import Final

from board.metrics.declared.computation import OfEvaluation, over_rollouts
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

HELD_OUT = reading(
    "up",
    (
        "It should rise with the training reward. If the two part, the policy overfits or exploits the reward: read the responses.",
        "应当与训练奖励一同上升。若二者背离，说明策略过拟合或在钻奖励的空子：请阅读回答。",
    ),
    look="responses",
)
SOURCE = "ROLL, Trackers and Metrics"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "evaluation/mean",
        "reward",
        "mean of R over the rollouts of an evaluation",
        SOURCE,
        ("Mean reward of an evaluation's rollouts.", "一次评测中所有 rollout 的平均奖励。"),
        HELD_OUT,
        OfEvaluation(over_rollouts("reward", "mean")),
        names=(
            Name("roll", "val/score/mean"),
            Name("trl-grpo", "eval/reward"),
        ),
    ),
    metric(
        "evaluation/max",
        "reward",
        "largest R of an evaluation's rollouts",
        SOURCE,
        ("Best reward of an evaluation.", "一次评测中的最高奖励。"),
        HELD_OUT,
        OfEvaluation(over_rollouts("reward", "max")),
        names=(Name("roll", "val/score/max"),),
    ),
    metric(
        "evaluation/min",
        "reward",
        "smallest R of an evaluation's rollouts",
        SOURCE,
        ("Worst reward of an evaluation.", "一次评测中的最低奖励。"),
        HELD_OUT,
        OfEvaluation(over_rollouts("reward", "min")),
        names=(Name("roll", "val/score/min"),),
    ),
)
