"""How many rollouts and tokens there are."""

from typing import Final

from board.metrics.declared.computation import SoFar, over_rollouts
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading
from board.metrics.declared.dialects import re_grpo

PLANNED = reading(
    "steady",
    (
        "It should be the batch size at every step. If it is less, rows were lost or the step is still being written.",
        "每一步都应等于批次大小。若有缺口，说明丢了数据，或该步仍在写入。",
    ),
    look="data",
)
TOTAL = reading(
    "up",
    (
        "It only rises. A sudden bend means that steps are missing, written twice or of another size.",
        "它只会上升。若突然出现拐点，说明有的步缺失、重复写入或大小改变。",
    ),
    look="data",
)
VOLUME = reading(
    "",
    (
        "It follows the length of the responses. If it jumps, so do the time and the memory that a step takes.",
        "随回答长度变化。若跳变，每步的时间与显存占用也会改变。",
    ),
    look="responses",
)
OWN = "the board's definition"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "counts/rollouts",
        "rollouts",
        "number of rollouts of the step",
        OWN,
        ("Number of rollouts of the step.", "该步的 rollout 数。"),
        PLANNED,
        over_rollouts("", "size"),
    ),
    metric(
        "counts/rollouts_total",
        "rollouts",
        "number of rollouts up to and including the step",
        "TRL, PPO Trainer; re-grpo",
        ("Number of rollouts so far.", "到目前为止的 rollout 总数。"),
        TOTAL,
        SoFar("sum", over_rollouts("", "size")),
        names=(
            Name("trl", "episode"),
            Name("re-grpo", "rollouts/total_rollouts"),
            Name("re-grpo", "final/total_rollouts", re_grpo.AT_END),
        ),
    ),
    metric(
        "counts/tokens",
        "tokens",
        "sum over the step's rollouts of the counted tokens of the response",
        OWN,
        ("Number of response tokens of the step.", "该步回答的 token 总数。"),
        VOLUME,
        over_rollouts("response_length", "sum"),
    ),
    metric(
        "counts/tokens_total",
        "tokens",
        "sum over all rollouts up to and including the step of the counted tokens of the response",
        OWN,
        ("Number of response tokens so far.", "到目前为止回答的 token 总数。"),
        TOTAL,
        SoFar("sum", over_rollouts("response_length", "sum")),
    ),
)
