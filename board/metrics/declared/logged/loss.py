"""Losses and their coefficients, which only the trainer can log."""

from typing import Final

from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading
from board.metrics.declared.dialects import trl_grpo

POLICY = reading(
    "",
    (
        "Its level says little; a jump or NaN says that the update broke. Look at the ratio and the KL of that step.",
        "数值高低本身意义不大；跳变或 NaN 说明更新出错。请查看该步的概率比与 KL。",
    ),
)
VALUE = reading(
    "down",
    (
        "A spike or NaN is bad: the critic diverges, and the advantages with it. Look at values and returns of that step.",
        "尖峰或 NaN 都是坏兆头：价值模型在发散，优势也随之失真。请查看该步的价值与回报。",
    ),
    look="tokens",
    never=("spiked",),
)
KL = reading(
    "steady",
    (
        "It should stay positive and small. If it grows fast, the policy leaves the reference: see on which tokens.",
        "应保持为正且较小。若增长很快，说明策略正在远离参考模型：请查看是哪些 token。",
    ),
    look="tokens",
)
COEFFICIENT = reading(
    "",
    (
        "It is constant unless it adapts. If an adaptive one runs to an extreme, it no longer holds the KL: compare the two.",
        "除非自适应，否则不变。自适应系数若跑到极端，就再也控制不住 KL：请对照二者。",
    ),
)
TEXT = reading(
    "down",
    (
        "It should fall slowly. If it nears 0, the policy recites these samples: read its responses.",
        "应缓慢下降。若接近 0，说明策略在背诵这些样本：请阅读它的回答。",
    ),
    look="responses",
)
WEIGHTS = reading(
    "",
    (
        "If it is far from 1, some samples count much more than others: see which.",
        "若远离 1，说明某些样本的权重远高于其他样本：请查看是哪些。",
    ),
    look="responses",
)
BROKEN = reading(
    "down",
    (
        "Above 0, a loss was not finite and its update was skipped: check the logprobs and rewards of that step.",
        "大于 0：某次损失不是有限值，相应的更新被跳过。请检查该步的 logprob 与奖励。",
    ),
    look="data",
)
UNEVEN = reading(
    "",
    (
        "If it grows, the updates of an epoch differ ever more: look for a few samples that dominate.",
        "若增大，说明一个 epoch 内各次更新差别越来越大：请找出占主导的少数样本。",
    ),
)
ROLL = "ROLL, Trackers and Metrics"
TRL = "TRL, PPO Trainer"
GRPO = "re-grpo"
ANY = "no unit"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "loss/policy",
        ANY,
        "clipped policy-gradient loss, averaged by the trainer over the step's updates",
        "Schulman et al. 2017 (PPO), arXiv:1707.06347",
        ("Policy-gradient loss.", "策略梯度损失。"),
        POLICY,
        names=(
            Name("roll", "actor/pg_loss"),
            Name("trl", "loss/policy_avg"),
            Name("trl-grpo", "policy_loss"),
            Name("verl", "actor/pg_loss"),
        ),
    ),
    metric(
        "loss/policy_weighted",
        ANY,
        "policy-gradient loss with every sample times its weight",
        ROLL,
        ("Policy-gradient loss after samples are weighted.", "按样本加权之后的策略梯度损失。"),
        POLICY,
        names=(Name("roll", "actor/weighted_pg_loss"),),
    ),
    metric(
        "loss/total",
        ANY,
        "policy loss and whatever is added to it: KL loss, entropy loss",
        ROLL,
        (
            "Loss whose gradient is taken: policy loss and all that is added to it.",
            "用于反向传播的总损失：策略损失加上所有附加项。",
        ),
        POLICY,
        names=(
            Name("roll", "actor/total_loss"),
            Name("trl-grpo", "loss", trl_grpo.TERMS),
            Name("re-grpo", "training_step/loss"),
            Name("verl", "actor/loss"),
        ),
    ),
    metric(
        "loss/total_epoch_mean",
        ANY,
        "mean of the total loss over the updates of an epoch",
        GRPO,
        ("Mean loss over an epoch.", "一个 epoch 内的平均损失。"),
        POLICY,
        names=(Name("re-grpo", "training_epoch/loss_mean"),),
    ),
    metric(
        "loss/total_epoch_std",
        ANY,
        "standard deviation of the total loss over the updates of an epoch",
        GRPO,
        ("Spread of the losses of an epoch (standard deviation).", "一个 epoch 内损失的离散程度（标准差）。"),
        UNEVEN,
        names=(Name("re-grpo", "training_epoch/loss_std"),),
    ),
    metric(
        "loss/component/{name}",
        ANY,
        "one term of the loss, as the trainer names it",
        GRPO + ", Dr. GRPO",
        ("One term of the loss.", "损失的一个组成部分。"),
        POLICY,
        names=(Name("re-grpo", "training_step/dr_component_{name}"),),
    ),
    metric(
        "loss/value",
        "reward²",
        "clipped squared error of the critic's values, halved, over the step's updates",
        TRL,
        ("Loss of the critic.", "价值模型的损失。"),
        VALUE,
        names=(
            Name("roll", "critic/loss"),
            Name("trl", "loss/value_avg"),
            Name("verl", "critic/vf_loss"),
        ),
    ),
    metric(
        "loss/kl",
        "nats per token",
        "KL to the reference as the loss holds it, with the logprobs of the update",
        ROLL,
        ("KL to the reference during the update.", "更新过程中相对参考模型的 KL。"),
        KL,
        names=(
            Name("roll", "actor/kl_loss"),
            Name("re-grpo", "training_step/kl"),
            Name("verl", "actor/kl_loss"),
        ),
    ),
    metric(
        "loss/kl_epoch_mean",
        "nats per token",
        "mean of the KL of the loss over the updates of an epoch",
        GRPO,
        ("Mean KL to the reference over an epoch's updates.", "一个 epoch 的各次更新中相对参考模型的平均 KL。"),
        KL,
        names=(Name("re-grpo", "training_epoch/kl_mean"),),
    ),
    metric(
        "loss/kl_epoch_std",
        "nats per token",
        "standard deviation of the KL of the loss over the updates of an epoch",
        GRPO,
        ("Spread of the KL over an epoch's updates (standard deviation).", "一个 epoch 的各次更新中 KL 的离散程度（标准差）。"),
        UNEVEN,
        names=(Name("re-grpo", "training_epoch/kl_std"),),
    ),
    metric(
        "loss/kl_coefficient",
        ANY,
        "factor of the KL term of the loss",
        "verl, trainer/ppo/metric_utils.py",
        ("Weight of the KL term in the loss.", "损失中 KL 项的系数。"),
        COEFFICIENT,
        names=(Name("verl", "actor/kl_coef"),),
    ),
    metric(
        "loss/sft",
        "nats",
        "negative log-likelihood of the samples, as the trainer weights it",
        ROLL,
        ("Supervised loss on the samples.", "样本上的监督微调损失。"),
        TEXT,
        names=(Name("roll", "actor/sft_loss"),),
    ),
    metric(
        "loss/sft_positive",
        "nats",
        "supervised loss over samples with a positive score",
        ROLL,
        ("Supervised loss on samples that scored well.", "正样本上的监督微调损失。"),
        TEXT,
        names=(Name("roll", "actor/positive_sft_loss"),),
    ),
    metric(
        "loss/sft_negative",
        "nats",
        "supervised loss over samples without a positive score",
        ROLL,
        ("Supervised loss on samples that scored badly.", "负样本上的监督微调损失。"),
        reading(
            "",
            (
                "If it grows without end, the policy is pushed away from bad samples into nonsense: read its responses.",
                "若无止境地增大，说明策略被推离坏样本后滑向胡言乱语：请阅读它的回答。",
            ),
            look="responses",
        ),
        names=(Name("roll", "actor/negative_sft_loss"),),
    ),
    metric(
        "loss/sample_weight_mean",
        ANY,
        "mean over the batch of the samples' weights",
        ROLL,
        ("Mean weight of a sample in the loss.", "样本在损失中的平均权重。"),
        WEIGHTS,
        names=(Name("roll", "actor/sample_weights_mean"),),
    ),
    metric(
        "loss/sample_weight_min",
        ANY,
        "smallest weight of a sample of the batch",
        ROLL,
        ("Smallest weight of a sample in the loss.", "样本在损失中的最小权重。"),
        WEIGHTS,
        names=(Name("roll", "actor/sample_weights_min"),),
    ),
    metric(
        "loss/sample_weight_max",
        ANY,
        "largest weight of a sample of the batch",
        ROLL,
        ("Largest weight of a sample in the loss.", "样本在损失中的最大权重。"),
        WEIGHTS,
        names=(Name("roll", "actor/sample_weights_max"),),
    ),
    metric(
        "loss/invalid_count",
        "count",
        "1 where an update was skipped because its loss was not finite",
        GRPO,
        ("Updates skipped because their loss was not finite.", "因损失不是有限值（NaN 或无穷）而跳过的更新。"),
        BROKEN,
        names=(Name("re-grpo", "training/invalid_loss_count"),),
    ),
    metric(
        "loss/router",
        "no unit",
        "load-balancing loss of a mixture of experts, before its factor",
        "TRL, GRPO Trainer",
        ("Loss that keeps the experts of a mixture evenly used.", "使混合专家模型中各专家均衡使用的损失。"),
        POLICY,
        names=(Name("trl-grpo", "aux_loss"),),
    ),
)
