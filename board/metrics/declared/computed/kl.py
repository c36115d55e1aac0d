"""Metrics of the KL divergence to the reference, by the estimators k1, k2 and k3.

With d = logprob - ref_logprob on a token the policy sampled: k1 = d, k2 = d²/2, k3 = exp(-d) - 1 + d.
"""

from typing import Final

from board.metrics.declared.computation import applied, over_rollouts, over_tokens
from board.metrics.declared.contract import Interpretation, Metric, Name
from board.metrics.declared.declare import Pair, metric, reading
from board.metrics.declared.dialects import re_grpo, roll, trl, trl_grpo, verl

SCHULMAN = "Schulman 2020, http://joschu.net/blog/kl-approx.html"
TRL = "TRL, PPO Trainer; TRL issues 235, 925 and 1005"
RE_GRPO = "re-grpo; " + SCHULMAN

QUANTITY: Final = {"k1": "log_ratio", "k2": "kl_k2", "k3": "kl_k3"}
"""What the board calls an estimator's number per token."""

Names = tuple[Name, ...]

POSITIVE: Pair = (
    "It should stay positive and small. Below 0 for long, sampling settings or logprobs are wrong; if it grows fast, find the tokens.",
    "应保持为正且较小。若持续小于 0，说明采样设置或 logprob 有误；若增长很快，请找出是哪些 token。",
)
SIGNED = reading("steady", POSITIVE, look="tokens", never=("negative",))
SIGNED_SUM = reading("steady", POSITIVE, look="tokens", low=-1.0, never=("negative",))
"""TRL warns below -1: while both policies are still alike the estimate is a little below 0 by chance (its pull request 352)."""
SIGNED_ROLLOUTS = reading(
    "steady",
    (
        "It should stay positive and small. Short and long responses count alike here: see which rollouts carry it.",
        "应保持为正且较小。这里长短回答权重相同：请查看是哪些 rollout 造成的。",
    ),
    look="responses",
)
UNSIGNED = reading(
    "steady",
    (
        "It is never negative and should stay small. If it rises steeply, the policy leaves the reference: see on which tokens.",
        "不会为负，应保持较小。若陡升，说明策略正在远离参考模型：请查看发生在哪些 token 上。",
    ),
    look="tokens",
)
PEAK = reading(
    "",
    (
        "A spike is one token that the reference finds very unlikely, or logprobs out of line by a token: look at it.",
        "尖峰来自某个参考模型认为极不可能的 token，或 logprob 错位了一个 token：请查看它。",
    ),
    look="tokens",
)
UNEVEN = reading(
    "",
    (
        "If it grows while the mean stays, a few rollouts leave the reference: sort the responses of the step by KL.",
        "若它增大而均值不变，说明少数 rollout 正在远离参考模型：请把该步的回答按 KL 排序。",
    ),
    look="responses",
)
NEGATIVE = reading(
    "down",
    (
        "A large share means that responses were not sampled from this policy, or that logprobs are wrong: check the data.",
        "比例过大，说明回答并非由当前策略采样，或 logprob 有误：请检查数据。",
    ),
    look="data",
)


def _tokens(
    name: str,
    estimator: str,
    mean_read: Interpretation,
    sum_read: Interpretation,
    *,
    mean_names: Names = (),
    max_names: Names = (),
    sum_names: Names = (),
) -> tuple[Metric, ...]:
    """Mean and largest over tokens, and the mean over rollouts of the sum, of one estimator."""
    mean: Pair = (
        f"Mean KL to the reference per token, by estimator {name}.",
        f"每个 token 相对参考模型的平均 KL（{name} 估计）。",
    )
    largest: Pair = (f"Largest KL of a token of the step, by estimator {name}.", f"该步单个 token 的最大 KL（{name} 估计）。")
    total: Pair = (
        f"Mean KL to the reference per response, summed over its tokens, by estimator {name}.",
        f"每条回答相对参考模型的平均 KL（{name} 估计，对 token 求和）。",
    )
    quantity = QUANTITY[name]
    return (
        metric(
            f"kl/{name}_mean",
            "nats per token",
            f"mean over tokens of {estimator}",
            SCHULMAN,
            mean,
            mean_read,
            over_tokens(quantity, "mean"),
            names=mean_names,
        ),
        metric(
            f"kl/{name}_max",
            "nats",
            f"largest over tokens of {estimator}",
            SCHULMAN,
            largest,
            PEAK,
            over_tokens(quantity, "max"),
            names=max_names,
        ),
        metric(
            f"kl/{name}_sum_mean",
            "nats per response",
            f"mean over rollouts of the sum over tokens of {estimator}",
            TRL if name == "k1" else SCHULMAN,
            total,
            sum_read,
            over_rollouts(f"{quantity}/sum", "mean"),
            names=sum_names,
        ),
    )


def _rollouts(name: str, estimator: str, mean_read: Interpretation, *, mean_names: Names = ()) -> tuple[Metric, ...]:
    """Mean, spread and largest over rollouts of the rollout's token mean of one estimator."""
    mean: Pair = (
        f"Mean over rollouts of the rollout's KL per token, by estimator {name}.",
        f"各 rollout 每 token KL 的平均值（{name} 估计）。",
    )
    spread: Pair = (
        f"Spread of the rollouts' KL per token (standard deviation), by estimator {name}.",
        f"各 rollout 每 token KL 的离散程度（{name} 估计，标准差）。",
    )
    largest: Pair = (
        f"Largest KL per token of a rollout, by estimator {name}.",
        f"单条 rollout 每 token KL 的最大值（{name} 估计）。",
    )
    inner = f"over rollouts of the rollout's token mean of {estimator}"
    unit, of_rollout = "nats per token", f"{QUANTITY[name]}/mean"
    return (
        metric(
            f"kl/{name}_rollout_mean",
            unit,
            f"mean {inner}",
            RE_GRPO,
            mean,
            mean_read,
            over_rollouts(of_rollout, "mean"),
            names=mean_names,
        ),
        metric(
            f"kl/{name}_rollout_std",
            unit,
            f"standard deviation {inner} (ddof 0)",
            RE_GRPO,
            spread,
            UNEVEN,
            over_rollouts(of_rollout, "std"),
        ),
        metric(f"kl/{name}_rollout_max", unit, f"largest {inner}", RE_GRPO, largest, UNEVEN, over_rollouts(of_rollout, "max")),
    )


PADDED = "over every position of the step's rollouts, padded to the longest response, those that are not the response's as 0"
POSITIONS: Final = (
    over_rollouts("kl_k3/count", "sum"),
    over_rollouts("response_length", "max"),
    over_rollouts("", "size"),
)
"""Of how many positions of the padded batch there is a number, and what these positions are: the longest response times the rollouts."""

K1 = "d = logprob - ref_logprob"
K2 = "d²/2, d = logprob - ref_logprob"
K3 = "exp(-d) - 1 + d, d = logprob - ref_logprob"

METRICS: Final[tuple[Metric, ...]] = (
    *_tokens("k1", K1, SIGNED, SIGNED_SUM, sum_names=(Name("trl", "objective/kl", trl.ESTIMATOR),)),
    *_tokens("k2", K2, UNSIGNED, UNSIGNED),
    *_tokens(
        "k3",
        K3,
        UNSIGNED,
        UNSIGNED,
        mean_names=(Name("trl-grpo", "kl", trl_grpo.ESTIMATOR),),
        max_names=(Name("re-grpo", "rollouts/kl_max"),),
    ),
    *_rollouts(
        "k1",
        K1,
        SIGNED_ROLLOUTS,
        mean_names=(
            Name("roll", "critic/kl", roll.PENALTY),
            Name("verl", "actor/reward_kl_penalty", verl.PENALTY),
            Name("verl", "critic/kl", verl.PENALTY),
        ),
    ),
    *_rollouts("k3", K3, UNSIGNED),
    metric(
        "kl/k3_padded_mean",
        "nats per position",
        f"mean of {K3}, {PADDED}",
        "re-grpo",
        ("Mean KL to the reference over a batch, padding counted as 0.", "整个批次上相对参考模型的平均 KL，填充位置按 0 计。"),
        UNSIGNED,
        applied("padded_mean", over_tokens("kl_k3", "mean"), *POSITIONS),
        names=(Name("re-grpo", "rollouts/kl_mean", re_grpo.BATCH),),
    ),
    metric(
        "kl/k3_padded_std",
        "nats per position",
        f"standard deviation of {K3}, {PADDED} (ddof 0)",
        "re-grpo",
        (
            "Spread of the KL over a batch (standard deviation), padding counted as 0.",
            "整个批次上 KL 的离散程度（标准差），填充位置按 0 计。",
        ),
        UNEVEN,
        applied("padded_std", over_tokens("kl_k3", "mean"), over_tokens("kl_k3", "mean_square"), *POSITIONS),
        names=(Name("re-grpo", "rollouts/kl_std", re_grpo.BATCH),),
    ),
    metric(
        "kl/negative_share",
        "share, 0 to 1",
        "share of rollouts with (sum over tokens of logprob - ref_logprob) < 0",
        TRL,
        (
            "Share of responses that the reference finds more likely than the policy does.",
            "参考模型给出的概率高于策略的回答所占比例。",
        ),
        NEGATIVE,
        over_rollouts(applied("is_below_0", "log_ratio/sum"), "mean"),
    ),
)
