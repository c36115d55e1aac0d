"""Counters that only the trainer keeps."""

from typing import Final

from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading
from board.metrics.declared.dialects import re_grpo

COUNTER = reading(
    "up",
    (
        "It only rises. A jump back means that the run was resumed from an earlier checkpoint.",
        "它只会上升。若回退，说明训练从较早的检查点恢复。",
    ),
)
VALID = reading(
    "steady",
    (
        "It should be the whole batch. If it falls, ever more samples are filtered out: see which, and why.",
        "应为整个批次。若下降，说明越来越多的样本被过滤：请查看是哪些、为什么。",
    ),
    look="data",
)
SETTING = reading(
    "steady",
    (
        "It follows from the batch sizes and the number of epochs. If it changes, so did the batch: look at the data.",
        "由批次大小与 epoch 数决定。若改变，说明批次变了：请检查数据。",
    ),
    look="data",
)
MARK = reading(
    "",
    (
        "A mark in time: compare the curves before and after it.",
        "时间上的标记：请对照它前后的曲线。",
    ),
)
ROLL = "ROLL, Trackers and Metrics"
GRPO = "re-grpo"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "counts/samples_total",
        "samples",
        "steps so far times the batch size of rollouts",
        ROLL,
        ("Samples processed so far.", "到目前为止处理的样本数。"),
        COUNTER,
        names=(Name("roll", "system/samples"),),
    ),
    metric(
        "counts/samples",
        "samples",
        "number of samples of the update's batch",
        ROLL,
        ("Samples of the batch.", "批次的样本数。"),
        VALID,
        names=(Name("roll", "actor/total_samples"),),
    ),
    metric(
        "counts/valid_samples",
        "samples",
        "number of samples of the update's batch that are not masked out",
        ROLL,
        ("Samples of the batch that are trained on.", "批次中实际参与训练的样本数。"),
        VALID,
        names=(Name("roll", "actor/valid_samples"),),
    ),
    metric(
        "counts/valid_sample_share",
        "share, 0 to 1",
        "valid samples / samples of the update's batch",
        ROLL,
        ("Share of the batch that is trained on.", "批次中实际参与训练的样本比例。"),
        VALID,
        names=(Name("roll", "actor/valid_sample_ratio"),),
    ),
    metric(
        "counts/batches_total",
        "batches",
        "number of batches of rollouts up to and including this one",
        GRPO,
        ("Batches of rollouts so far.", "到目前为止的 rollout 批次数。"),
        COUNTER,
        names=(
            Name("re-grpo", "rollouts/batch_step"),
            Name("re-grpo", "final/total_batches", re_grpo.AT_END),
        ),
    ),
    metric(
        "counts/updates",
        "updates",
        "number of updates of an epoch",
        GRPO,
        ("Updates of an epoch.", "一个 epoch 内的更新次数。"),
        SETTING,
        names=(Name("re-grpo", "training_epoch/steps_per_epoch"),),
    ),
    metric(
        "counts/updates_total",
        "updates",
        "number of updates up to the end of the run",
        GRPO,
        ("Updates of the whole run.", "整个训练的更新次数。"),
        COUNTER,
        names=(Name("re-grpo", "final/total_steps"),),
    ),
    metric(
        "counts/global_step",
        "steps",
        "the trainer's own step",
        "verl, trainer/ppo/metric_utils.py",
        ("Step the trainer counts.", "训练程序自己的步数。"),
        COUNTER,
        names=(Name("verl", "training/global_step"),),
    ),
    metric(
        "counts/epoch",
        "epochs",
        "passes over the data",
        "verl, trainer/ppo/metric_utils.py",
        ("Pass over the data.", "数据的遍历次数（epoch）。"),
        reading(
            "up",
            (
                "If other curves jump where it rises, the policy has learnt the data by heart.",
                "若其他曲线在它增加处跳变，说明策略在背诵数据。",
            ),
        ),
        names=(
            Name("trl-grpo", "epoch"),
            Name("verl", "training/epoch"),
        ),
    ),
    metric(
        "counts/replay_buffer",
        "samples",
        "number of samples in the replay buffer",
        GRPO,
        ("Samples waiting in the replay buffer.", "回放缓冲区中的样本数。"),
        SETTING,
        names=(Name("re-grpo", "system/replay_buffer_size"),),
    ),
    metric(
        "counts/checkpoint_saved",
        "count",
        "1 where a checkpoint was saved",
        GRPO,
        ("A checkpoint was saved here.", "此处保存了检查点。"),
        MARK,
        names=(Name("re-grpo", "checkpoint/saved"),),
    ),
    metric(
        "counts/checkpoint_step",
        "steps",
        "batch at which the checkpoint was saved",
        GRPO,
        ("Batch of the last checkpoint.", "最近一个检查点所在的批次。"),
        MARK,
        names=(Name("re-grpo", "checkpoint/step"),),
    ),
    metric(
        "counts/tokens_seen",
        "tokens",
        "tokens of prompts and responses of training up to and including the step",
        "TRL, GRPO Trainer",
        ("Tokens of prompts and responses so far.", "迄今为止提示与回答的 token 总数。"),
        COUNTER,
        names=(Name("trl-grpo", "num_tokens"),),
    ),
)
