"""Metrics of the mismatch between the trainer's policy and the inference engine that sampled the tokens.

D = logprob - rollout_logprob on a token, w = exp(D) its importance weight. The logprob is that of the policy that sampled: old_logprob
where the row has it.
"""

from typing import Final

from board.metrics.declared.computation import applied, over_rollouts, over_tokens
from board.metrics.declared.contract import Interpretation, Metric, Name
from board.metrics.declared.declare import Pair, metric, reading
from board.metrics.declared.dialects import verl

NEMO = "NeMo-RL, GRPO guide"
VERL = "verl, rollout correction"
YAO = "Yao et al. 2025, fengyao.notion.site/off-policy-rl"

SEQUENCE_WEIGHT = applied("exp", "mismatch/sum")
"""w of a whole response."""

NEXT: Pair = (
    "see on which tokens the two disagree, then check dtype, sampling settings and weight sync.",
    "请查看两者在哪些 token 上不一致，再检查精度、采样设置与权重同步。",
)


def _apart(en: str, zh: str, low: float | None = None, high: float | None = None, better: str = "down") -> Interpretation:
    """A reading that ends in what to look at when trainer and engine disagree."""
    words = (f"{en}: {NEXT[0]}", f"{zh}：{NEXT[1]}")
    return reading("down" if better == "down" else "steady", words, "tokens", low, high)


SMALL = _apart(
    "It should stay near 0. If it grows, training learns from a policy that did not sample",
    "应接近 0。若增大，说明训练所用的策略与采样的策略不同",
)
PEAK = _apart("One token far apart is the classic sign of trouble", "只要有一个 token 相差很大，就是典型的故障信号")
ERROR = _apart(
    "1 is equality. Above 1.05, the engine's probabilities are suspect",
    "1 表示完全一致。超过 1.05 时推理引擎的概率值得怀疑",
    high=1.05,
)
K1 = _apart(
    "It should stay near 0. More than 0.1 either way is an alarm", "应接近 0。绝对值超过 0.1 即为警报", low=-0.1, high=0.1
)
K3 = _apart(
    "It should stay below 0.001. If it grows, collapse often follows", "应低于 0.001。若持续增大，往往随后就会坍缩", high=1e-3
)
RATIO = _apart(
    "It should stay at 1. A drift means that the two policies part", "应保持在 1。若偏移，说明两个策略正在分离", better="steady"
)
WEIGHT = _apart(
    "It should stay near 1. Outside 0.5 to 2, the correction is not to be trusted",
    "应接近 1；超出 0.5 到 2 时重要性修正不可信",
    0.5,
    2.0,
    "steady",
)
SPREAD = _apart("Above 1, a few tokens carry the correction", "超过 1 说明重要性修正被少数 token 主导", high=1.0)
CHI2 = _apart(
    "Above 1, importance weights are too uneven to correct with", "超过 1 说明重要性权重过于不均，难以用来修正", high=1.0
)
CHI2_SEQUENCE = _apart(
    "It grows fast with length; a rise means whole responses the policy would hardly sample",
    "它随长度迅速增大；上升说明整条回答已很难由当前策略采样得到",
)
ESS = _apart(
    "Below 0.3, most of the batch counts for nothing once it is corrected",
    "低于 0.3 说明修正之后批次的大部分样本几乎不起作用",
    low=0.3,
    better="steady",
)
CORRELATION = _apart(
    "It should stay at 1. A fall means that the engine computes other probabilities",
    "应保持在 1。若下降，说明推理引擎算出的概率不同",
    better="steady",
)

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "mismatch/abs_mean",
        "nats per token",
        "mean over tokens of |D|",
        YAO,
        ("Mean distance between the logprobs of trainer and engine.", "训练端与推理引擎的 logprob 平均相差多少。"),
        SMALL,
        over_tokens("mismatch_abs", "mean"),
        names=(Name("trl-grpo", "sampling/sampling_logp_difference/mean"),),
    ),
    metric(
        "mismatch/abs_max",
        "nats",
        "largest over tokens of |D|",
        YAO,
        ("Largest distance between the two logprobs of a token.", "单个 token 上两个 logprob 的最大差距。"),
        PEAK,
        over_tokens("mismatch_abs", "max"),
        names=(Name("trl-grpo", "sampling/sampling_logp_difference/max"),),
    ),
    metric(
        "mismatch/prob_diff_mean",
        "probability",
        "mean over tokens of |exp(logprob) - exp(rollout_logprob)|",
        "verl, training/rollout_probs_diff_mean",
        ("Mean distance between the probabilities of trainer and engine.", "训练端与推理引擎的概率平均相差多少。"),
        SMALL,
        over_tokens("prob_gap", "mean"),
        names=(Name("verl", "training/rollout_probs_diff_mean"),),
    ),
    metric(
        "mismatch/prob_diff_max",
        "probability",
        "largest over tokens of |exp(logprob) - exp(rollout_logprob)|",
        "verl, training/rollout_probs_diff_max",
        ("Largest distance between the two probabilities of a token.", "单个 token 上两个概率的最大差距。"),
        PEAK,
        over_tokens("prob_gap", "max"),
        names=(Name("verl", "training/rollout_probs_diff_max"),),
    ),
    metric(
        "mismatch/prob_diff_std",
        "probability",
        "standard deviation over tokens of |exp(logprob) - exp(rollout_logprob)| (ddof 0)",
        "verl, training/rollout_probs_diff_std",
        ("Spread of the distance between the two probabilities (standard deviation).", "两个概率之差的离散程度（标准差）。"),
        SMALL,
        over_tokens("prob_gap", "std"),
        names=(Name("verl", "training/rollout_probs_diff_std", verl.SAMPLE),),
    ),
    metric(
        "mismatch/mult_prob_error",
        "ratio",
        "mean over tokens of exp(|D|)",
        NEMO,
        ("By what factor the two probabilities of a token differ on average.", "同一 token 的两个概率平均相差多少倍。"),
        ERROR,
        over_tokens("mismatch_error", "mean"),
    ),
    metric(
        "mismatch/kl",
        "nats per token",
        "mean over tokens of -D: k1 of KL(rollout‖policy)",
        VERL,
        ("KL from the policy that sampled to the one that is trained, by k1.", "采样策略到训练策略的 KL（k1 估计）。"),
        K1,
        applied("negative", over_tokens("mismatch", "mean")),
        names=(Name("verl", "rollout_corr/kl", verl.LATER),),
    ),
    metric(
        "mismatch/k3",
        "nats per token",
        "mean over tokens of exp(D) - D - 1: k3 of KL(rollout‖policy)",
        NEMO + "; " + VERL,
        ("KL from the policy that sampled to the one that is trained, by k3.", "采样策略到训练策略的 KL（k3 估计）。"),
        K3,
        over_tokens("mismatch_k3", "mean"),
        names=(Name("verl", "rollout_corr/k3_kl", verl.LATER),),
    ),
    metric(
        "mismatch/ppl_ratio",
        "ratio",
        "exp(mean over tokens of rollout_logprob - mean over tokens of logprob)",
        VERL,
        (
            "Perplexity of the sampled tokens under the trainer, divided by that under the engine.",
            "所采样 token 在训练端的困惑度与在推理引擎的困惑度之比。",
        ),
        RATIO,
        applied("exp_of_negative", over_tokens("mismatch", "mean")),
    ),
    metric(
        "mismatch/is_mean",
        "ratio",
        "mean over tokens of w",
        VERL,
        ("Mean importance weight of a token.", "每个 token 的平均重要性权重。"),
        WEIGHT,
        over_tokens("mismatch_weight", "mean"),
    ),
    metric(
        "mismatch/is_std",
        "ratio",
        "standard deviation over tokens of w (ddof 0)",
        VERL,
        ("Spread of the tokens' importance weights (standard deviation).", "各 token 重要性权重的离散程度（标准差）。"),
        SPREAD,
        over_tokens("mismatch_weight", "std"),
    ),
    metric(
        "mismatch/is_sequence_mean",
        "ratio",
        "mean over rollouts of exp(sum over tokens of D)",
        VERL,
        ("Mean importance weight of a whole response.", "整条回答的平均重要性权重。"),
        WEIGHT,
        over_rollouts(SEQUENCE_WEIGHT, "mean"),
    ),
    metric(
        "mismatch/chi2",
        "no unit",
        "mean over tokens of w² - 1",
        VERL,
        ("Chi-square distance of the two policies per token.", "两个策略在 token 层面的卡方距离。"),
        CHI2,
        applied("less_one", over_tokens("mismatch_weight", "mean_square")),
        names=(Name("verl", "rollout_corr/chi2_token", verl.LATER),),
    ),
    metric(
        "mismatch/chi2_sequence",
        "no unit",
        "mean over rollouts of w² - 1, w = exp(sum over tokens of D)",
        VERL,
        ("Chi-square distance of the two policies over whole responses.", "两个策略在整条回答层面的卡方距离。"),
        CHI2_SEQUENCE,
        applied("less_one", over_rollouts(SEQUENCE_WEIGHT, "mean_square")),
        names=(Name("verl", "rollout_corr/chi2_seq", verl.LATER),),
    ),
    metric(
        "mismatch/ess",
        "share, 0 to 1",
        "(sum of w)² / (n · sum of w²) over tokens",
        VERL,
        (
            "Share of the tokens that still counts after importance weighting.",
            "重要性加权之后仍然有效的 token 比例（有效样本量）。",
        ),
        ESS,
        applied("effective_share", over_tokens("mismatch_weight", "mean"), over_tokens("mismatch_weight", "mean_square")),
    ),
    metric(
        "mismatch/ess_sequence",
        "share, 0 to 1",
        "(sum of w)² / (n · sum of w²) over rollouts, w = exp(sum over tokens of D)",
        VERL,
        (
            "Share of the responses that still counts after importance weighting.",
            "重要性加权之后仍然有效的回答比例（有效样本量）。",
        ),
        ESS,
        applied("effective_share", over_rollouts(SEQUENCE_WEIGHT, "mean"), over_rollouts(SEQUENCE_WEIGHT, "mean_square")),
    ),
    metric(
        "mismatch/correlation",
        "correlation, -1 to 1",
        "Pearson correlation over tokens of exp(logprob) and exp(rollout_logprob)",
        "verl, training/rollout_actor_probs_pearson_corr",
        ("How well the two probabilities of a token agree.", "同一 token 的两个概率有多一致（皮尔逊相关系数）。"),
        CORRELATION,
        applied(
            "correlation",
            over_tokens("trained_prob", "variance"),
            over_tokens("sampled_prob", "variance"),
            over_tokens("prob_sum", "variance"),
        ),
        names=(Name("verl", "training/rollout_actor_probs_pearson_corr"),),
    ),
)
