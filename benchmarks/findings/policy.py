"""What the policy is like at each step of an honest run: it learns, drifts from the reference, and gets surer, all slowly and with noise."""

from dataclasses import dataclass

import numpy as np

from benchmarks.findings.setting import Setting


@dataclass
class Policy:
    """The policy at one step."""

    skill: float
    """In logits: above an exercise's difficulty, most responses are right."""
    verbosity: float
    """Expected sentences beside a solution's own."""
    thorough: float
    """By how many logits each sentence of checking helps: in runs whose lengths grow for good reasons."""
    kl: float
    """Mean over tokens of KL to the reference, nats."""
    entropy: float
    """What entropies and surprisals are multiplied by."""
    mismatch: float
    """Standard deviation between the trainer's and the engine's logprobs at an improbable token, nats."""
    form: float
    """Share of responses in the right form."""
    critic: float
    """How much of an outcome the critic knows at the end of a response, 0 to 1."""
    rambles: float = 0.012
    """Share of responses that go on and on."""


def policies(setting: Setting) -> list[Policy]:
    """The policy of every step."""
    dice = np.random.default_rng([setting.seed, 2])
    count = setting.steps
    time = np.arange(count) / max(1, count - 1)
    learned = 1 / (1 + np.exp(-6 * (time - 0.4)))
    start, gain = dice.uniform(-0.9, -0.3), dice.uniform(1.0, 1.6)
    skill = start + gain * learned + _wander(dice, count, 0.08)
    talk = dice.uniform(1.5, 3.5) + _wander(dice, count, 0.15)
    thorough = 0.0
    if setting.oddity == "growing_length":
        talk, thorough, skill = talk + 3.5 * learned, 0.3, skill - 0.9 * learned
    if setting.oddity == "noisy_step":
        odd = int(dice.integers(count // 5, count - 2))
        skill[odd] -= 0.8
        talk[odd] += 1.0
    kl = (0.0002 + dice.uniform(0.008, 0.02) * time**1.3) * np.exp(_wander(dice, count, 0.06))
    entropy = (1 - dice.uniform(0.15, 0.3) * time) * np.exp(_wander(dice, count, 0.02))
    mismatch = dice.uniform(0.01, 0.03)
    form = 0.75 + 0.2 * learned
    critic = 0.3 + 0.4 * time
    return [
        Policy(*(float(one) for one in values))
        for values in zip(skill, talk, [thorough] * count, kl, entropy, [mismatch] * count, form, critic, strict=True)
    ]


def _wander(dice: np.random.Generator, count: int, size: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """A walk that is drawn back to zero. Shape (count,)."""
    walk, here = np.zeros(count), 0.0
    for at in range(count):
        here = 0.8 * here + dice.normal(0, size)
        walk[at] = here
    return walk
