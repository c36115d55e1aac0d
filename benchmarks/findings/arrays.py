"""The arrays of rollouts whose tokens and rewards are settled: probabilities, then advantages, values and returns that follow from them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from zlib import crc32

import numpy as np

from benchmarks.findings.policy import Policy
from benchmarks.findings.sampled import DIGITS, Numbers, Sampled
from benchmarks.findings.setting import Rule, Setting

BETA: Final = 0.02
"""PPO's KL penalty."""
LAMBDA: Final = 0.95
EPSILON: Final = 1e-4
SUREST: Final = -1e-6
"""Logprob of what is as good as certain: 0 is what trainers write of tokens that they mask."""


@lru_cache(maxsize=200_000)
def _nature(before: str, token: str) -> tuple[float, float]:
    """Entropy and surprisal in nats that a token has after another, the same whenever the two meet: few places are undecided."""
    low, high = divmod(crc32(f"{before}|{token}".encode()), 65_536)
    entropy = 0.01 + 2.4 * (low / 65_536) ** 4
    if before.endswith((".", "\n", "。", "?")):
        entropy += 0.8
    return entropy, entropy * (0.1 + 1.8 * high / 65_536)


def probabilities(rollout: Sampled, policy: Policy, dice: np.random.Generator) -> None:
    """Logprobs of the policy, the reference and the engine, and entropies."""
    nature = np.array([_nature(*pair) for pair in zip(["\n", *rollout.tokens], rollout.tokens, strict=False)]).reshape(-1, 2)
    count = len(nature)
    entropies = nature[:, 0] * policy.entropy * np.exp(dice.normal(0, 0.15, count))
    logprobs = np.minimum(-nature[:, 1] * policy.entropy * np.exp(dice.normal(0, 0.25, count)), SUREST)
    rollout.arrays |= {"logprobs": logprobs, "entropies": entropies}
    rollout.arrays["ref_logprobs"] = reference(logprobs, policy.kl, dice)
    spread = policy.mismatch * np.minimum(1, np.sqrt(-logprobs))
    rollout.arrays["rollout_logprobs"] = np.minimum(logprobs - dice.normal(0, 1, count) * spread, SUREST)


def reference(logprobs: Numbers, kl: float, dice: np.random.Generator) -> Numbers:
    """The reference's logprobs: log-ratios of variance s² and mean s²/2, as those of tokens that the policy sampled are."""
    size = np.clip(np.sqrt(-logprobs), 0.02, 1.2)
    spread = size * np.sqrt(2 * kl / max(float(np.mean(size**2)), 1e-9)) if len(size) else size
    ratio = dice.normal(spread**2 / 2, spread)
    return np.minimum(logprobs - ratio, SUREST)


def settled(rollout: Sampled) -> None:
    """Arrays as they will be written, so that what follows from them does so to the last digit."""
    rollout.arrays = {name: np.round(values, DIGITS) for name, values in rollout.arrays.items()}


def advantage(rewards: Numbers, rule: Rule) -> Numbers:
    """Advantages of a group by its rewards (2402.03300; 2503.20783; leave-one-out)."""
    centred = rewards - rewards.mean()
    if rule == "grpo":
        return centred / (rewards.std() + EPSILON)
    return centred * len(rewards) / max(1, len(rewards) - 1) if rule == "rloo" else centred


def group_advantages(group: Sequence[Sampled], rule: Rule) -> None:
    """Each rollout's advantage on all its trained tokens, 0 on the others."""
    found = advantage(np.array([one.reward for one in group]), rule)
    for rollout, value in zip(group, found.tolist(), strict=True):
        rollout.arrays["advantages"] = np.where(rollout.trained, value, 0.0)


def critic(rollout: Sampled, expected: float, knows: float, dice: np.random.Generator) -> None:
    """Values: at first what the prompt lets expect, towards the end more and more of the outcome."""
    count = len(rollout.tokens)
    share = knows * np.linspace(0.1, 1, count)
    wrong = dice.normal(0, 0.25) + dice.normal(0, 0.15, count)
    rollout.arrays["values"] = expected + share * (rollout.reward - expected) + wrong


def ppo(rollout: Sampled) -> None:
    """Token rewards out of KL and reward; advantages by GAE, γ = 1 (1506.02438); returns as advantages plus values."""
    arrays = rollout.arrays
    rewards = -BETA * (arrays["logprobs"] - arrays["ref_logprobs"])
    rewards[-1] += rollout.reward
    values = arrays["values"]
    delta = rewards + np.append(values[1:], 0.0) - values
    found, carried = np.zeros(len(delta)), 0.0
    for at in range(len(delta) - 1, -1, -1):
        carried = delta[at] + LAMBDA * carried
        found[at] = carried
    arrays |= {"token_rewards": rewards, "advantages": found, "returns": found + values}


def whitened(rollouts: Sequence[Sampled]) -> None:
    """Advantages of a step to mean 0 and standard deviation 1; returns stay."""
    flat = np.concatenate([rollout.arrays["advantages"] for rollout in rollouts])
    for rollout in rollouts:
        rollout.arrays["advantages"] = (rollout.arrays["advantages"] - flat.mean()) / (flat.std() + 1e-8)


def log(rollouts: Sequence[Sampled], setting: Setting) -> None:
    """Advantages, and what PPO adds, of one step whose rewards, values and masks are settled."""
    if setting.trainer == "ppo":
        for rollout in rollouts:
            ppo(rollout)
        if setting.whitened:
            whitened(rollouts)
        return
    for group in sorted({rollout.group for rollout in rollouts}):
        group_advantages([rollout for rollout in rollouts if rollout.group == group], setting.rule)
