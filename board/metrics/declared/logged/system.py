"""Throughput and the machines that training runs on."""

from typing import Final

from board.metrics.declared.computed.counts import VOLUME
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading

FAST = reading(
    "up",
    (
        "It falls when responses get longer. Any other fall is a machine that is slow or waits: see which phase takes the time.",
        "回答变长时下降是正常的；否则多半是机器变慢或在等待。请看时间花在哪个阶段。",
    ),
)
BALANCE = reading(
    "",
    (
        "The further smallest and largest lie apart, the longer workers wait for each other: see the longest responses.",
        "最小与最大相差越大，各 worker 互相等待越久：请查看最长的回答。",
    ),
    look="responses",
)
SETTING = reading(
    "",
    (
        "A setting of the run. If it changes, the run was started anew in another way.",
        "训练的设置。若改变，说明训练以另一种方式重新启动过。",
    ),
)
STALE = reading(
    "",
    (
        "The older the samples, the less the policy that is trained resembles the one that sampled: see the mismatch.",
        "样本越旧，正在训练的策略与采样它的策略差别越大：请查看失配指标。",
    ),
    look="tokens",
)
VERL = "verl, trainer/ppo/metric_utils.py"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "system/tokens_per_second",
        "tokens per second",
        "tokens processed / time",
        "ROLL, Trackers and Metrics",
        ("Tokens processed in a second.", "每秒处理的 token 数。"),
        FAST,
        names=(Name("roll", "system/tps"),),
    ),
    metric(
        "system/tokens_per_second_per_gpu",
        "tokens per second and GPU",
        "tokens processed / (time of the step · number of GPUs)",
        VERL,
        ("Tokens processed in a second by one GPU.", "每张 GPU 每秒处理的 token 数。"),
        FAST,
        names=(Name("verl", "perf/throughput"),),
    ),
    metric(
        "system/episodes_per_second",
        "rollouts per second",
        "episodes so far / time since the start",
        "TRL, PPO Trainer",
        ("Rollouts processed in a second.", "每秒处理的 rollout 数。"),
        FAST,
        names=(Name("trl", "eps"),),
    ),
    metric(
        "system/tokens",
        "tokens",
        "sum over the step's rollouts of the tokens of prompt and response",
        VERL,
        ("Tokens processed in the step, prompts included.", "该步处理的 token 数，含提示。"),
        VOLUME,
        names=(Name("verl", "perf/total_num_tokens"),),
    ),
    metric(
        "system/mfu/{path}",
        "share, 0 to 1",
        "floating-point operations done / those the GPUs promise in that time",
        VERL,
        ("Share of the GPUs' speed that a model's work reaches.", "算力利用率（MFU）。"),
        FAST,
        names=(Name("verl", "perf/mfu/{path}"),),
    ),
    metric(
        "system/balance/{name}",
        "tokens",
        "tokens of the batch on one worker: smallest, largest, their difference or mean, before or after balancing",
        VERL,
        ("How evenly the step's tokens are spread over workers.", "该步 token 在各 worker 之间的均衡程度。"),
        BALANCE,
        names=(Name("verl", "global_seqlen/{name}"),),
    ),
    metric(
        "system/asynchronous/{path}",
        "no unit",
        "counters and times of asynchronous training, as the trainer names them",
        "verl, fully asynchronous trainer",
        ("What an asynchronous trainer says of its queue and of stale samples.", "异步训练中队列与陈旧样本的情况。"),
        STALE,
        names=(Name("verl", "fully_async/{path}"),),
    ),
    metric(
        "system/accelerate/{name}",
        "no unit",
        "what Accelerate says of itself: device, whether gradients are synchronised",
        "re-grpo",
        ("A setting of Accelerate.", "Accelerate 的一项设置。"),
        SETTING,
        names=(Name("re-grpo", "accelerate/{name}"),),
    ),
    metric(
        "system/ddp/{name}",
        "no unit",
        "what data-parallel training says of itself: number and index of processes",
        "re-grpo",
        ("A setting of data-parallel training.", "数据并行训练的一项设置。"),
        SETTING,
        names=(Name("re-grpo", "ddp/{name}"),),
    ),
    metric(
        "system/evaluation_samples_per_second",
        "samples per second",
        "samples of an evaluation / its time",
        "transformers, Trainer",
        ("Samples per second of an evaluation.", "评测每秒处理的样本数。"),
        FAST,
        names=(Name("trl-grpo", "eval/samples_per_second"),),
    ),
    metric(
        "system/evaluation_batches_per_second",
        "batches per second",
        "batches of an evaluation / its time",
        "transformers, Trainer",
        ("Batches per second of an evaluation.", "评测每秒处理的批次数。"),
        FAST,
        names=(Name("trl-grpo", "eval/steps_per_second"),),
    ),
)
