"""What trainers log and no other family holds."""

from typing import Final

from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

TEXT = reading(
    "",
    (
        "It is text rather than a number: read it beside the responses of the step.",
        "这是文字而不是数值：请与该步的回答对照阅读。",
    ),
    look="responses",
)
VARIANCE = reading(
    "",
    (
        "If noise grows while the signal stays, take more rollouts for each prompt, or fewer groups that are all alike.",
        "若噪声增大而信号不变，请为每个提示采样更多 rollout，或减少奖励全部相同的组。",
    ),
)
SPO = "verl, trainer/ppo/metric_utils.py"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "other/examples",
        "text",
        "sampled responses, as the trainer logs them",
        "re-grpo",
        ("Sampled responses.", "采样的回答示例。"),
        TEXT,
        names=(Name("re-grpo", "examples/completion"),),
    ),
    metric(
        "other/critic_type",
        "text",
        "name of the kind of critic",
        "re-grpo, Dr. GRPO",
        ("Kind of critic in use.", "所用价值模型的类型。"),
        TEXT,
        names=(Name("re-grpo", "dr_grpo/critic_type"),),
    ),
    metric(
        "other/gradient_signal",
        "no unit",
        "squared norm of the mean gradient",
        SPO,
        ("Strength of the mean gradient.", "平均梯度的强度（信号）。"),
        VARIANCE,
        names=(Name("verl", "variance_proxy/proxy1_signal_strength"),),
    ),
    metric(
        "other/gradient_power",
        "no unit",
        "estimate of the mean squared norm of a rollout's gradient",
        SPO,
        ("Strength of the gradients of single rollouts: signal and noise.", "单条 rollout 梯度的强度（信号加噪声）。"),
        VARIANCE,
        names=(Name("verl", "variance_proxy/proxy2_total_power"),),
    ),
    metric(
        "other/gradient_noise",
        "no unit",
        "(power - signal) / (number of rollouts - 1)",
        SPO,
        ("Estimated noise of the mean gradient.", "平均梯度的噪声估计。"),
        VARIANCE,
        names=(Name("verl", "variance_proxy/proxy3_pure_noise"),),
    ),
    metric(
        "other/squared_advantage",
        "reward²",
        "mean over rollouts of the squared mean advantage",
        SPO,
        ("Mean squared advantage of a rollout.", "rollout 优势平方的平均值。"),
        VARIANCE,
        names=(Name("verl", "variance_proxy/expected_a_squared"),),
    ),
    metric(
        "other/score_norm",
        "no unit",
        "mean over rollouts of the sum over tokens of 1 - 2p + sum of p², p the token's probability",
        SPO,
        (
            "How strongly a rollout can move the policy, whatever its advantage.",
            "不论优势大小，一条 rollout 能在多大程度上推动策略。",
        ),
        VARIANCE,
        names=(Name("verl", "variance_proxy/expected_w"),),
    ),
)
