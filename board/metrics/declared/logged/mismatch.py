"""What trainers that correct for the mismatch log of it: truncated weights and rejections."""

from typing import Final

from board.metrics.declared.computed.mismatch import ESS, SMALL, SPREAD, VERL, WEIGHT
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading
from board.metrics.declared.dialects import trl_grpo

REJECTS = reading(
    "down",
    (
        "If it grows, ever more of the batch is dropped or cut: see on which tokens trainer and engine disagree.",
        "若增大，说明批次中被丢弃或截断的部分越来越多：请查看训练端与推理引擎在哪些 token 上不一致。",
    ),
    look="tokens",
)
EXTREME = reading(
    "",
    (
        "If it is far from 1, a few tokens are weighted far up or down: find them.",
        "若远离 1，说明少数 token 的权重被大幅放大或缩小：请找出它们。",
    ),
    look="tokens",
)

CUT = "w cut at the trainer's threshold"
SEQUENCE = f"over rollouts of the rollout's mean of {CUT}"

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "mismatch/is_cut_mean",
        "ratio",
        f"mean of {CUT}",
        VERL,
        ("Mean importance weight after truncation.", "截断后的平均重要性权重。"),
        WEIGHT,
        names=(
            Name("trl-grpo", "sampling/importance_sampling_ratio/mean", trl_grpo.CAPPED),
            Name("verl", "rollout_corr/rollout_is_mean"),
        ),
    ),
    metric(
        "mismatch/is_cut_max",
        "ratio",
        f"largest {CUT}",
        VERL,
        ("Largest importance weight.", "最大的重要性权重。"),
        EXTREME,
        names=(
            Name("trl-grpo", "sampling/importance_sampling_ratio/max", trl_grpo.CAPPED),
            Name("verl", "rollout_corr/rollout_is_max"),
        ),
    ),
    metric(
        "mismatch/is_cut_min",
        "ratio",
        f"smallest {CUT}",
        VERL,
        ("Smallest importance weight.", "最小的重要性权重。"),
        EXTREME,
        names=(
            Name("trl-grpo", "sampling/importance_sampling_ratio/min", trl_grpo.CAPPED),
            Name("verl", "rollout_corr/rollout_is_min"),
        ),
    ),
    metric(
        "mismatch/is_cut_std",
        "ratio",
        f"standard deviation of {CUT}",
        VERL,
        ("Spread of the importance weights after truncation (standard deviation).", "截断后重要性权重的离散程度（标准差）。"),
        SPREAD,
        names=(Name("verl", "rollout_corr/rollout_is_std"),),
    ),
    metric(
        "mismatch/is_cut_ess",
        "share, 0 to 1",
        f"(sum)² / (n · sum of squares) of {CUT}",
        VERL,
        ("Share of the batch that still counts after truncated weighting.", "截断加权之后仍然有效的样本比例。"),
        ESS,
        names=(Name("verl", "rollout_corr/rollout_is_eff_sample_size"),),
    ),
    metric(
        "mismatch/is_above_share",
        "share, 0 to 1",
        "share of w above the trainer's threshold",
        VERL,
        ("Share of importance weights that are cut.", "超过阈值而被截断的重要性权重比例。"),
        REJECTS,
        names=(Name("verl", "rollout_corr/rollout_is_ratio_fraction_high"),),
    ),
    metric(
        "mismatch/is_below_share",
        "share, 0 to 1",
        "share of w below the trainer's lower threshold",
        VERL,
        ("Share of importance weights below the lower threshold.", "低于下阈值的重要性权重比例。"),
        REJECTS,
        names=(Name("verl", "rollout_corr/rollout_is_ratio_fraction_low"),),
    ),
    metric(
        "mismatch/is_outside_share",
        "share, 0 to 1",
        "share of w outside both thresholds, which count as 0",
        VERL,
        ("Share of tokens left out because their weight is out of bounds.", "因权重越界而被剔除的 token 比例。"),
        REJECTS,
        names=(Name("verl", "rollout_corr/rollout_is_oob_ratio"),),
    ),
    metric(
        "mismatch/is_norm_factor",
        "ratio",
        f"mean of {CUT}, by which weights are divided",
        VERL,
        ("Factor that brings the mean weight of the batch to 1.", "使批次平均权重为 1 的归一化系数。"),
        WEIGHT,
        names=(Name("verl", "rollout_corr/rollout_is_batch_norm_factor"),),
    ),
    metric(
        "mismatch/is_cut_sequence_mean",
        "ratio",
        f"mean {SEQUENCE}",
        VERL,
        ("Mean over rollouts of the rollout's weight after truncation.", "截断后各 rollout 权重的平均值。"),
        WEIGHT,
        names=(Name("verl", "rollout_corr/rollout_is_seq_mean"),),
    ),
    metric(
        "mismatch/is_cut_sequence_std",
        "ratio",
        f"standard deviation {SEQUENCE}",
        VERL,
        ("Spread of the rollouts' weights after truncation (standard deviation).", "截断后各 rollout 权重的离散程度（标准差）。"),
        SPREAD,
        names=(Name("verl", "rollout_corr/rollout_is_seq_std"),),
    ),
    metric(
        "mismatch/is_cut_sequence_max",
        "ratio",
        f"largest {SEQUENCE}",
        VERL,
        ("Largest weight of a rollout.", "单条 rollout 的最大权重。"),
        EXTREME,
        names=(Name("verl", "rollout_corr/rollout_is_seq_max"),),
    ),
    metric(
        "mismatch/is_cut_sequence_min",
        "ratio",
        f"smallest {SEQUENCE}",
        VERL,
        ("Smallest weight of a rollout.", "单条 rollout 的最小权重。"),
        EXTREME,
        names=(Name("verl", "rollout_corr/rollout_is_seq_min"),),
    ),
    metric(
        "mismatch/is_cut_sequence_deviation",
        "ratio",
        f"largest distance from 1 {SEQUENCE}",
        VERL,
        ("How far the weight of a rollout lies from 1 at most.", "单条 rollout 的权重偏离 1 的最大值。"),
        SMALL,
        names=(Name("verl", "rollout_corr/rollout_is_seq_max_deviation"),),
    ),
    metric(
        "mismatch/is_sequence_above_share",
        "share, 0 to 1",
        "share of rollouts whose mean w is above the trainer's threshold",
        VERL,
        ("Share of rollouts whose weight is above the threshold.", "权重超过阈值的 rollout 比例。"),
        REJECTS,
        names=(Name("verl", "rollout_corr/rollout_is_seq_fraction_high"),),
    ),
    metric(
        "mismatch/is_sequence_below_share",
        "share, 0 to 1",
        "share of rollouts whose mean w is below the trainer's lower threshold",
        VERL,
        ("Share of rollouts whose weight is below the lower threshold.", "权重低于下阈值的 rollout 比例。"),
        REJECTS,
        names=(Name("verl", "rollout_corr/rollout_is_seq_fraction_low"),),
    ),
    metric(
        "mismatch/rejection/{name}",
        "no unit",
        "statistic of rejection sampling, as the trainer names it",
        VERL,
        ("What rejection sampling saw and left out.", "拒绝采样所见与剔除的情况。"),
        REJECTS,
        names=(Name("verl", "rollout_corr/rollout_rs_{name}"),),
    ),
    metric(
        "mismatch/valid",
        "0 or 1",
        "1 where the engine's logprobs could be compared",
        VERL,
        ("Whether the engine's logprobs could be compared.", "推理引擎的 logprob 是否可以比较。"),
        reading(
            "",
            (
                "At 0 the engine reported no logprobs, and the other numbers of the mismatch say nothing.",
                "0 表示推理引擎没有给出 logprob，此时其他失配指标没有意义。",
            ),
            look="data",
        ),
        names=(Name("verl", "training/rollout_probs_diff_valid"),),
    ),
)
