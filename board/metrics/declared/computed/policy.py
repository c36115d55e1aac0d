"""Metrics of the policy's own distribution: logprobs and entropy of the tokens it sampled."""

from typing import Final

from board.metrics.declared.computation import applied, over_rollouts, over_tokens
from board.metrics.declared.contract import Metric, Name
from board.metrics.declared.declare import metric, reading
from board.metrics.declared.dialects import roll, trl, verl

SURE = reading(
    "",
    (
        "If it rises towards 0, the policy grows sure of itself, and fast means collapse; if it falls, unlikely tokens are sampled.",
        "趋近 0 说明策略越来越确定，过快即为坍缩；若下降，说明采样到的是策略认为不太可能的 token。",
    ),
    look="tokens",
)
DRIFT = reading(
    "",
    (
        "The reference is fixed: if this falls, the policy writes what the reference would not. Compare the texts.",
        "参考模型是固定的：若下降，说明策略写出了参考模型不会写的内容。请对比文字。",
    ),
    look="responses",
)
EXPLORES = reading(
    "",
    (
        "A slow fall is learning. A fast fall is collapse: rewards within groups become equal and the gradient vanishes.",
        "缓慢下降是在学习；快速下降是坍缩：组内奖励趋于一致，梯度随之消失。",
    ),
    look="tokens",
)
TOTAL = reading(
    "",
    (
        "It falls with collapse and grows with length: compare it with the mean length before concluding anything.",
        "坍缩时下降，回答变长时上升：下结论前请先对照平均长度。",
    ),
    look="responses",
)
PEAK = reading(
    "",
    (
        "The token where the policy was least decided: a fork of the reasoning, or noise. Look at it.",
        "策略最犹豫的那个 token：可能是推理的分叉点，也可能是噪声。请查看它。",
    ),
    look="tokens",
)

FALLING = reading(
    "",
    (
        "The larger, the faster entropy falls: likely tokens were the rewarded ones, and few tokens carry most of it. See which, on All tokens.",
        "越大熵下降越快：被奖励的正是本来就高概率的 token，而且大部分由极少数 token 承担。请在 All tokens 页查看是哪些。",
    ),
    look="tokens",
)

METRICS: Final[tuple[Metric, ...]] = (
    metric(
        "policy/logprob_mean",
        "nats per token",
        "mean over tokens of logprob",
        "ROLL, Trackers and Metrics",
        ("Mean log-probability of the sampled tokens under the policy.", "策略对所采样 token 的平均对数概率。"),
        SURE,
        over_tokens("logprob", "mean"),
    ),
    metric(
        "policy/old_logprob_mean",
        "nats per token",
        "mean over tokens of old_logprob, or of logprob where the row has no other",
        "ROLL, Trackers and Metrics",
        (
            "Mean log-probability of the sampled tokens under the policy that sampled them.",
            "采样策略对所采样 token 的平均对数概率。",
        ),
        SURE,
        over_tokens("trained_logprob", "mean"),
        names=(Name("roll", "critic/old_log_prob/mean"),),
    ),
    metric(
        "policy/ref_logprob_mean",
        "nats per token",
        "mean over tokens of ref_logprob",
        "ROLL, Trackers and Metrics",
        ("Mean log-probability of the sampled tokens under the reference.", "参考模型对所采样 token 的平均对数概率。"),
        DRIFT,
        over_tokens("ref_logprob", "mean"),
        names=(Name("roll", "critic/ref_log_prob/mean"),),
    ),
    metric(
        "policy/surprisal_sum_mean",
        "nats per response",
        "mean over rollouts of -(sum over tokens of logprob)",
        "TRL, PPO Trainer",
        (
            "Mean surprisal of a response, an estimate of the policy's entropy over whole responses.",
            "每条回答的平均惊异度，即策略在整条回答上的熵的估计。",
        ),
        TOTAL,
        over_rollouts(applied("negative", "logprob/sum"), "mean"),
        names=(Name("trl", "objective/entropy", trl.SURPRISAL),),
    ),
    metric(
        "policy/entropy_mean",
        "nats per token",
        "mean over tokens of the entropy of the policy's distribution at the token",
        "ROLL, Trackers and Metrics; verl, PPO metrics",
        ("Mean entropy of the policy per token: how much it still explores.", "策略每个 token 的平均熵：它还在多大程度上探索。"),
        EXPLORES,
        over_tokens("entropy", "mean"),
        names=(
            Name("roll", "critic/entropy/mean", roll.AGGREGATED),
            Name("trl", "policy/entropy_avg", trl.UPDATED),
            Name("trl-grpo", "entropy"),
            Name("verl", "actor/entropy", verl.AGGREGATED),
        ),
    ),
    metric(
        "policy/entropy_max",
        "nats",
        "largest over tokens of the entropy of the policy's distribution at the token",
        "Wang et al. 2025 (forking tokens), arXiv:2506.01939",
        ("Largest entropy of a token of the step.", "该步单个 token 的最大熵。"),
        PEAK,
        over_tokens("entropy", "max"),
    ),
    metric(
        "policy/logprob_advantage_covariance",
        "nats × advantage",
        "mean over tokens of logprob · advantage - mean of logprob · mean of advantage",
        "Cui et al. 2025, arXiv 2505.22617",
        (
            "Covariance of log-probability and advantage over the tokens of the step.",
            "该步所有 token 的对数概率与优势的协方差。",
        ),
        FALLING,
        applied(
            "covariance",
            over_tokens("logprob_advantage", "mean"),
            over_tokens("credited_logprob", "mean"),
            over_tokens("credited_advantage", "mean"),
        ),
    ),
)
