"""Perplexities of the responses under the trainer and under the inference engine, over rollouts."""

from typing import Final

from board.metrics.declared.computation import applied, over_rollouts
from board.metrics.declared.computed.mismatch import RATIO, SMALL, VERL
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

PERPLEXITY = reading(
    "",
    (
        "It follows entropy. The two perplexities should stay equal; where they part, look for the tokens.",
        "随熵变化。两个困惑度应保持相等；若分离，请找出相应的 token。",
    ),
    look="tokens",
)

DIFF = "(token mean of rollout_logprob - token mean of logprob) of a rollout"
RISE = applied("negative", "mismatch/mean")
"""How much higher the trainer's log-perplexity of a response is than the engine's."""

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "mismatch/policy_ppl",
        "no unit",
        "mean over rollouts of exp(-token mean of logprob), of old_logprob where the row has it",
        VERL,
        ("Perplexity of the responses under the trainer.", "回答在训练端的困惑度。"),
        PERPLEXITY,
        over_rollouts(applied("exp_of_negative", "trained_logprob/mean"), "mean"),
        family="policy",
        names=(Name("verl", "rollout_corr/training_ppl"),),
    ),
    metric(
        "mismatch/policy_log_ppl",
        "nats per token",
        "mean over rollouts of -token mean of logprob, of old_logprob where the row has it",
        VERL,
        ("Log-perplexity of the responses under the trainer.", "回答在训练端的对数困惑度。"),
        PERPLEXITY,
        over_rollouts(applied("negative", "trained_logprob/mean"), "mean"),
        family="policy",
        names=(Name("verl", "rollout_corr/training_log_ppl"),),
    ),
    metric(
        "mismatch/rollout_ppl",
        "no unit",
        "mean over rollouts of exp(-token mean of rollout_logprob)",
        VERL,
        ("Perplexity of the responses under the engine.", "回答在推理引擎的困惑度。"),
        PERPLEXITY,
        over_rollouts(applied("exp_of_negative", "rollout_logprob/mean"), "mean"),
        names=(Name("verl", "rollout_corr/rollout_ppl"),),
    ),
    metric(
        "mismatch/rollout_log_ppl",
        "nats per token",
        "mean over rollouts of -token mean of rollout_logprob",
        VERL,
        ("Log-perplexity of the responses under the engine.", "回答在推理引擎的对数困惑度。"),
        PERPLEXITY,
        over_rollouts(applied("negative", "rollout_logprob/mean"), "mean"),
        names=(Name("verl", "rollout_corr/rollout_log_ppl"),),
    ),
    metric(
        "mismatch/log_ppl_diff_mean",
        "nats per token",
        f"mean over rollouts of {DIFF}",
        VERL,
        ("How much higher the trainer's log-perplexity is.", "训练端的对数困惑度平均高出多少。"),
        SMALL,
        over_rollouts(RISE, "mean"),
        names=(Name("verl", "rollout_corr/log_ppl_diff"),),
    ),
    metric(
        "mismatch/log_ppl_diff_abs",
        "nats per token",
        f"mean over rollouts of the size of {DIFF}",
        VERL,
        ("How far the two log-perplexities of a response lie apart.", "同一回答的两个对数困惑度平均相差多少。"),
        SMALL,
        over_rollouts(applied("size", "mismatch/mean"), "mean"),
        names=(Name("verl", "rollout_corr/log_ppl_abs_diff"),),
    ),
    metric(
        "mismatch/log_ppl_diff_max",
        "nats per token",
        f"largest {DIFF}",
        VERL,
        ("Response whose perplexity rose most from engine to trainer.", "训练端对数困惑度高出最多的回答。"),
        SMALL,
        over_rollouts(RISE, "max"),
        names=(Name("verl", "rollout_corr/log_ppl_diff_max"),),
    ),
    metric(
        "mismatch/log_ppl_diff_min",
        "nats per token",
        f"smallest {DIFF}",
        VERL,
        ("Response whose perplexity fell most from engine to trainer.", "训练端对数困惑度低出最多的回答。"),
        SMALL,
        over_rollouts(RISE, "min"),
        names=(Name("verl", "rollout_corr/log_ppl_diff_min"),),
    ),
    metric(
        "mismatch/ppl_ratio_rollout_mean",
        "ratio",
        f"mean over rollouts of exp{DIFF}",
        VERL,
        (
            "Mean over responses of the trainer's perplexity divided by the engine's.",
            "各回答在训练端与推理引擎的困惑度之比的平均值。",
        ),
        RATIO,
        over_rollouts(applied("exp_of_negative", "mismatch/mean"), "mean"),
        names=(Name("verl", "rollout_corr/ppl_ratio"),),
    ),
)
