"""Perplexities of the responses under the trainer and under the inference engine, over rollouts."""

from typing import Final

from board.metrics.declared.computed.mismatch import RATIO, SMALL, VERL
from board.metrics.declared.contract import Metric, Reading
from board.metrics.declared.declare import Pair, metric, reading

PERPLEXITY = reading(
    "",
    (
        "It follows entropy. The two perplexities should stay equal; where they part, look for the tokens.",
        "随熵变化。两个困惑度应保持相等；若分离，请找出相应的 token。",
    ),
    look="tokens",
)

DIFF = "(token mean of rollout_logprob - token mean of logprob) of a rollout"
BOTH = ("logprobs", "rollout_logprobs")

ROWS: Final[tuple[tuple[str, str, str, tuple[str, ...], Reading, Pair], ...]] = (
    (
        "policy_ppl",
        "no unit",
        "mean over rollouts of exp(-token mean of logprob)",
        ("logprobs",),
        PERPLEXITY,
        ("Perplexity of the responses under the trainer.", "回答在训练端的困惑度。"),
    ),
    (
        "policy_log_ppl",
        "nats per token",
        "mean over rollouts of -token mean of logprob",
        ("logprobs",),
        PERPLEXITY,
        ("Log-perplexity of the responses under the trainer.", "回答在训练端的对数困惑度。"),
    ),
    (
        "rollout_ppl",
        "no unit",
        "mean over rollouts of exp(-token mean of rollout_logprob)",
        ("rollout_logprobs",),
        PERPLEXITY,
        ("Perplexity of the responses under the engine.", "回答在推理引擎的困惑度。"),
    ),
    (
        "rollout_log_ppl",
        "nats per token",
        "mean over rollouts of -token mean of rollout_logprob",
        ("rollout_logprobs",),
        PERPLEXITY,
        ("Log-perplexity of the responses under the engine.", "回答在推理引擎的对数困惑度。"),
    ),
    (
        "log_ppl_diff_mean",
        "nats per token",
        f"mean over rollouts of {DIFF}",
        BOTH,
        SMALL,
        ("How much higher the trainer's log-perplexity is.", "训练端的对数困惑度平均高出多少。"),
    ),
    (
        "log_ppl_diff_abs",
        "nats per token",
        f"mean over rollouts of the size of {DIFF}",
        BOTH,
        SMALL,
        ("How far the two log-perplexities of a response lie apart.", "同一回答的两个对数困惑度平均相差多少。"),
    ),
    (
        "log_ppl_diff_max",
        "nats per token",
        f"largest {DIFF}",
        BOTH,
        SMALL,
        ("Response whose perplexity rose most from engine to trainer.", "训练端对数困惑度高出最多的回答。"),
    ),
    (
        "log_ppl_diff_min",
        "nats per token",
        f"smallest {DIFF}",
        BOTH,
        SMALL,
        ("Response whose perplexity fell most from engine to trainer.", "训练端对数困惑度低出最多的回答。"),
    ),
    (
        "ppl_ratio_rollout_mean",
        "ratio",
        f"mean over rollouts of exp{DIFF}",
        BOTH,
        RATIO,
        (
            "Mean over responses of the trainer's perplexity divided by the engine's.",
            "各回答在训练端与推理引擎的困惑度之比的平均值。",
        ),
    ),
)

METRICS: Final[tuple[Metric, ...]] = tuple(
    metric(
        f"mismatch/{key}", unit, formula, VERL, meaning, read, *needs, family="policy" if needs == ("logprobs",) else "mismatch"
    )
    for key, unit, formula, needs, read, meaning in ROWS
)
