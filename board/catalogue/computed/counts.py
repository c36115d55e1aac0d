"""How many rollouts and tokens there are."""

from typing import Final

from board.catalogue.contract import Metric
from board.catalogue.declare import metric, reading

PLANNED = reading(
    "steady",
    (
        "It should be the batch size on every step. A gap means lost rows, or a step still being written.",
        "每一步都应等于批次大小。若有缺口，说明丢了数据，或该步仍在写入。",
    ),
    look="data",
)
TOTAL = reading(
    "up",
    (
        "It rises by one batch a step. A bend means that steps are missing or written twice.",
        "每步增加一个批次。若出现拐点，说明有的步缺失或重复写入。",
    ),
    look="data",
)
VOLUME = reading(
    "",
    (
        "It follows the length of the responses. A jump changes the time and memory a step takes.",
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
        "step",
    ),
    metric(
        "counts/rollouts_total",
        "rollouts",
        "number of rollouts up to and including the step",
        "TRL, PPO trainer; re-grpo",
        ("Number of rollouts so far.", "到目前为止的 rollout 总数。"),
        TOTAL,
        "step",
    ),
    metric(
        "counts/tokens",
        "tokens",
        "sum over the step's rollouts of the counted tokens of the response",
        OWN,
        ("Number of response tokens of the step.", "该步回答的 token 总数。"),
        VOLUME,
        "response_length",
    ),
    metric(
        "counts/tokens_total",
        "tokens",
        "sum over all rollouts up to and including the step of the counted tokens of the response",
        OWN,
        ("Number of response tokens so far.", "到目前为止回答的 token 总数。"),
        TOTAL,
        "response_length",
    ),
)
