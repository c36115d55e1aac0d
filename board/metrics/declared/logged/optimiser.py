"""Metrics of the optimiser that only the trainer can log: learning rates and gradient norms."""

from typing import Final

from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

SCHEDULE = reading(
    "",
    (
        "It should follow its schedule. When another curve breaks off, see whether this one changed at that step.",
        "应按预定的计划变化。曲线突变时，先看学习率是否在那一步改变。",
    ),
)
NORM = reading(
    "steady",
    (
        "A spike, above all together with KL and entropy, is an update gone wrong; near 0, nothing is learnt. Look at that step.",
        "尖峰（尤其与 KL、熵同时出现）说明更新出了问题；接近 0 则什么也没学到。请查看那一步。",
    ),
)
ROLL = "ROLL, Trackers and Metrics"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "optimiser/learning_rate",
        "no unit",
        "learning rate of the policy's optimiser at the step",
        ROLL,
        ("Learning rate of the policy.", "策略的学习率。"),
        SCHEDULE,
        names=(
            Name("roll", "actor/lr"),
            Name("trl", "lr"),
            Name("trl-grpo", "learning_rate"),
            Name("re-grpo", "training_step/learning_rate"),
            Name("verl", "actor/lr"),
        ),
    ),
    metric(
        "optimiser/critic_learning_rate",
        "no unit",
        "learning rate of the critic's optimiser at the step",
        ROLL,
        ("Learning rate of the critic.", "价值模型的学习率。"),
        SCHEDULE,
        names=(
            Name("roll", "critic/lr"),
            Name("verl", "critic/lr"),
        ),
    ),
    metric(
        "optimiser/grad_norm",
        "no unit",
        "norm of the policy's gradient before clipping, as the trainer averages it over the step's updates",
        "verl, trainer/ppo/metric_utils.py",
        ("Size of the policy's gradient.", "策略梯度的大小（范数）。"),
        NORM,
        names=(
            Name("roll", "actor_train/grad_norm"),
            Name("trl-grpo", "grad_norm"),
            Name("re-grpo", "training_step/grad_norm"),
            Name("verl", "actor/grad_norm"),
        ),
    ),
    metric(
        "optimiser/critic_grad_norm",
        "no unit",
        "norm of the critic's gradient before clipping, as the trainer averages it over the step's updates",
        "verl, trainer/ppo/metric_utils.py",
        ("Size of the critic's gradient.", "价值模型梯度的大小（范数）。"),
        NORM,
        names=(Name("verl", "critic/grad_norm"),),
    ),
    metric(
        "optimiser/grad_norm_epoch_mean",
        "no unit",
        "mean of the gradient norm over the updates of an epoch",
        "re-grpo",
        ("Mean size of the gradient over an epoch.", "一个 epoch 内梯度范数的平均值。"),
        NORM,
        names=(Name("re-grpo", "training_epoch/grad_norm_mean"),),
    ),
    metric(
        "optimiser/grad_norm_epoch_max",
        "no unit",
        "largest gradient norm of the updates of an epoch",
        "re-grpo",
        ("Largest gradient of an epoch.", "一个 epoch 内梯度范数的最大值。"),
        NORM,
        names=(Name("re-grpo", "training_epoch/grad_norm_max"),),
    ),
)
