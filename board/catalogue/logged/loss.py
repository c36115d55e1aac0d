"""Losses and their coefficients, which only the trainer can log."""

from typing import Final

from board.catalogue.contract import Metric
from board.catalogue.declare import metric, reading

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
        "A spike or NaN is bad: the critic diverges, and advantages with it. Look at values and returns at that step.",
        "尖峰或 NaN 都是坏兆头：价值模型在发散，优势也随之失真。请查看该步的价值与回报。",
    ),
    look="tokens",
)
KL = reading(
    "steady",
    (
        "It should stay positive and small. Growing fast, the policy leaves the reference: see on which tokens.",
        "应保持为正且较小。若增长很快，说明策略正在远离参考模型：请查看是哪些 token。",
    ),
    look="tokens",
)
COEFFICIENT = reading(
    "",
    (
        "Constant unless it is adaptive. An adaptive one that runs to an end can no longer hold the KL: compare the two.",
        "除非自适应，否则不变。自适应系数若跑到极端，就再也控制不住 KL：请对照二者。",
    ),
)
TEXT = reading(
    "down",
    (
        "It should fall slowly. Near 0 the policy repeats those samples by heart: read its responses.",
        "应缓慢下降。若接近 0，说明策略在背诵这些样本：请阅读它的回答。",
    ),
    look="responses",
)
WEIGHTS = reading(
    "",
    (
        "Far from 1, some samples count much more than others: see which.",
        "若远离 1，说明某些样本的权重远高于其他样本：请查看是哪些。",
    ),
    look="responses",
)
BROKEN = reading(
    "down",
    (
        "More than 0: a loss was not finite and its update was skipped. Check that step's logprobs and rewards.",
        "大于 0：出现了非有限的损失，相应更新被跳过。请检查该步的 logprob 与奖励。",
    ),
    look="data",
    high=0.0,
)
UNEVEN = reading(
    "",
    (
        "Growing, the updates of an epoch differ more and more: look for a few samples that dominate.",
        "若增大，说明一轮内各次更新差别越来越大：请找出占主导的少数样本。",
    ),
)
ROLL = "ROLL, metrics"
TRL = "TRL, PPO trainer"
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
    ),
    metric(
        "loss/policy_weighted",
        ANY,
        "policy-gradient loss with every sample times its weight",
        ROLL,
        ("Policy-gradient loss after samples are weighted.", "按样本加权之后的策略梯度损失。"),
        POLICY,
    ),
    metric(
        "loss/total",
        ANY,
        "policy loss and whatever is added to it: KL loss, entropy loss",
        ROLL,
        ("Loss that is differentiated.", "用于反向传播的总损失。"),
        POLICY,
    ),
    metric(
        "loss/total_epoch_mean",
        ANY,
        "mean of the total loss over the updates of an epoch",
        GRPO,
        ("Mean loss over an epoch.", "一轮中的平均损失。"),
        POLICY,
    ),
    metric(
        "loss/total_epoch_std",
        ANY,
        "standard deviation of the total loss over the updates of an epoch",
        GRPO,
        ("How far the losses of an epoch lie apart.", "一轮中损失的离散程度（标准差）。"),
        UNEVEN,
    ),
    metric(
        "loss/component/{name}",
        ANY,
        "one term of the loss, as the trainer names it",
        GRPO + ", Dr. GRPO",
        ("One term of the loss.", "损失的一个组成部分。"),
        POLICY,
    ),
    metric(
        "loss/value",
        "reward²",
        "clipped squared error of the critic's values, halved, over the step's updates",
        TRL,
        ("Loss of the critic.", "价值模型的损失。"),
        VALUE,
    ),
    metric(
        "loss/kl",
        "nats per token",
        "KL to the reference as the loss holds it, with the logprobs of the update",
        ROLL,
        ("KL to the reference during the update.", "更新过程中相对参考模型的 KL。"),
        KL,
    ),
    metric(
        "loss/kl_epoch_mean",
        "nats per token",
        "mean of the KL of the loss over the updates of an epoch",
        GRPO,
        ("Mean KL to the reference over an epoch's updates.", "一轮更新中相对参考模型的平均 KL。"),
        KL,
    ),
    metric(
        "loss/kl_epoch_std",
        "nats per token",
        "standard deviation of the KL of the loss over the updates of an epoch",
        GRPO,
        ("How far the KLs of an epoch's updates lie apart.", "一轮更新中 KL 的离散程度（标准差）。"),
        UNEVEN,
    ),
    metric(
        "loss/kl_coefficient",
        ANY,
        "factor of the KL term of the loss",
        "verl, PPO metrics",
        ("Weight of the KL term in the loss.", "损失中 KL 项的系数。"),
        COEFFICIENT,
    ),
    metric(
        "loss/sft",
        "nats",
        "negative log-likelihood of the samples, as the trainer weights it",
        ROLL,
        ("Supervised loss on the samples.", "样本上的监督微调损失。"),
        TEXT,
    ),
    metric(
        "loss/sft_positive",
        "nats",
        "supervised loss over samples with a positive score",
        ROLL,
        ("Supervised loss on samples that scored well.", "正样本上的监督微调损失。"),
        TEXT,
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
                "Growing without end, the policy is pushed away from bad samples into nonsense: read its responses.",
                "若无止境地增大，说明策略被推离坏样本后滑向胡言乱语：请阅读它的回答。",
            ),
            look="responses",
        ),
    ),
    metric(
        "loss/sample_weight_mean",
        ANY,
        "mean over the batch of the samples' weights",
        ROLL,
        ("Mean weight of a sample in the loss.", "样本在损失中的平均权重。"),
        WEIGHTS,
    ),
    metric(
        "loss/sample_weight_min",
        ANY,
        "smallest weight of a sample of the batch",
        ROLL,
        ("Smallest weight of a sample in the loss.", "样本在损失中的最小权重。"),
        WEIGHTS,
    ),
    metric(
        "loss/sample_weight_max",
        ANY,
        "largest weight of a sample of the batch",
        ROLL,
        ("Largest weight of a sample in the loss.", "样本在损失中的最大权重。"),
        WEIGHTS,
    ),
    metric(
        "loss/invalid_count",
        "count",
        "1 where an update was skipped because its loss was not finite",
        GRPO,
        ("Updates skipped because their loss was not finite.", "因损失非有限而跳过的更新。"),
        BROKEN,
    ),
)
