"""How long the trainer's phases take."""

from typing import Final

from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

LASTS = reading(
    "down",
    (
        "It rises with the length of responses. Any other rise is a worker that is slow or waits: see which phase grew.",
        "随回答变长而增加是正常的；否则多半是某个 worker 变慢或在等待：请看是哪个阶段变长。",
    ),
    look="responses",
)
MOVES = reading(
    "down",
    (
        "It is lost to moving the model's state. If it is a large part of the phase, keep the state on the GPU.",
        "搬运模型状态所花的时间。若占该阶段的很大部分，可让状态常驻 GPU。",
    ),
)
ROLL = "ROLL, Trackers and Metrics"
VERL = "verl, trainer/ppo/metric_utils.py"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "time/step",
        "seconds",
        "time of the whole step",
        VERL,
        ("Time of a step.", "一步所用的时间。"),
        LASTS,
        names=(
            Name("trl-grpo", "step_time"),
            Name("verl", "perf/time_per_step"),
            Name("verl", "timing_s/step"),
        ),
    ),
    metric(
        "time/rollout",
        "seconds",
        "time of sampling the step's rollouts",
        ROLL,
        ("Time to sample the rollouts.", "采样 rollout 所用的时间。"),
        LASTS,
        names=(Name("roll", "time/rollout"),),
    ),
    metric(
        "time/reference_values_reward",
        "seconds",
        "time of computing reference logprobs, values and rewards",
        ROLL,
        ("Time to compute reference logprobs, values and rewards.", "计算参考模型 logprob、价值与奖励所用的时间。"),
        LASTS,
        names=(Name("roll", "time/ref_log_probs_values_reward"),),
    ),
    metric(
        "time/old_logprobs_values",
        "seconds",
        "time of computing the policy's own logprobs and the values",
        ROLL,
        ("Time to compute the policy's logprobs and the values.", "计算策略 logprob 与价值所用的时间。"),
        LASTS,
        names=(Name("roll", "time/old_log_probs_values"),),
    ),
    metric(
        "time/advantages",
        "seconds",
        "time of computing advantages",
        ROLL,
        ("Time to compute advantages.", "计算优势所用的时间。"),
        LASTS,
        names=(Name("roll", "time/adv"),),
    ),
    metric(
        "time/{phase}/total",
        "seconds",
        "time of a phase, moving of states included",
        ROLL,
        ("Time of a phase as a whole.", "某一阶段的总时间。"),
        LASTS,
        names=(Name("roll", "time/{phase}/total"),),
    ),
    metric(
        "time/{phase}/execute",
        "seconds",
        "time of a phase's own work",
        ROLL,
        ("Time of a phase's own work.", "某一阶段实际执行的时间。"),
        LASTS,
        names=(Name("roll", "time/{phase}/execute"),),
    ),
    metric(
        "time/{phase}/onload",
        "seconds",
        "time of bringing the states in before a phase",
        ROLL,
        ("Time to load the model's state before a phase.", "某一阶段开始前载入模型状态的时间。"),
        MOVES,
        names=(Name("roll", "time/{phase}/onload"),),
    ),
    metric(
        "time/{phase}/offload",
        "seconds",
        "time of taking the states out after a phase",
        ROLL,
        ("Time to take the model's state off the GPU after a phase.", "某一阶段结束后卸载模型状态的时间。"),
        MOVES,
        names=(Name("roll", "time/{phase}/offload"),),
    ),
    metric(
        "time/stage/{path}",
        "seconds",
        "time of a stage, as the trainer names it",
        VERL,
        ("Time of a stage of the step.", "该步某一环节的时间。"),
        LASTS,
        names=(Name("verl", "timing_s/{path}"),),
    ),
    metric(
        "time/per_token/{path}",
        "milliseconds per token",
        "time of a stage / its tokens; response tokens for generation, else prompt and response",
        VERL,
        ("Time of a stage per token.", "某一环节平均每个 token 的时间。"),
        LASTS,
        names=(Name("verl", "timing_per_token_ms/{path}"),),
    ),
    metric(
        "time/evaluation",
        "seconds",
        "time of an evaluation",
        "transformers, Trainer",
        ("Time of an evaluation.", "一次评测所用的时间。"),
        LASTS,
        names=(Name("trl-grpo", "eval/runtime"),),
    ),
)
