"""What a plant may do to a run, and how strongly at each step. The base class does nothing: it is the clean run."""

from collections.abc import Sequence
from typing import ClassVar, Final, Literal

import numpy as np

from benchmarks.findings.exercises import Exercise
from benchmarks.findings.policy import Policy
from benchmarks.findings.sampled import Sampled
from benchmarks.findings.setting import Setting

Strength = Literal["mild", "medium", "strong"]
Shape = Literal["sudden", "gradual", "always"]
"""At its full size from the onset on, growing to it, or there from the first step of the run."""
STRENGTHS: Final[tuple[Strength, ...]] = ("mild", "medium", "strong")
SHAPES: Final[tuple[Shape, ...]] = ("sudden", "gradual", "always")

RAMP: Final = 0.35
"""The share of a run in which what begins gradually grows to its full size."""


class Plant:
    """One fault, from an onset on. Each method is asked at its moment of every step and changes what it is given."""

    kind: ClassVar[str] = "clean"
    amounts: ClassVar[tuple[float, float, float]] = (0.0, 0.0, 0.0)
    """What `amount` is when mild, medium and strong: a share of rollouts unless the class says otherwise."""
    needs: ClassVar[frozenset[str]] = frozenset()
    """Fields without which nobody could tell: a lean run keeps them."""

    def __init__(self, setting: Setting, strength: Strength = "medium", shape: Shape = "sudden") -> None:
        self.setting = self.fitted(setting)
        self.strength = strength
        self.shape = shape
        self.full = self.amounts[STRENGTHS.index(strength)]

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """The setting with what the kind needs, such as a critic."""
        return setting

    @property
    def onset(self) -> int:
        """Index of the first step at which it can be seen."""
        return 0 if self.shape == "always" else self.setting.onset

    def weight(self, step: int) -> float:
        """0 before the onset, 1 when it is at its full size."""
        if step < self.onset:
            return 0.0
        if self.shape != "gradual":
            return 1.0
        return min(1.0, (step - self.onset + 1) / max(1.0, RAMP * self.setting.steps))

    def amount(self, step: int) -> float:
        """How much of it there is at a step."""
        return self.full * self.weight(step)

    def dice(self, rollout: Sampled) -> np.random.Generator:
        """Chance of its own, so that what is left alone stays as in the clean run."""
        return np.random.default_rng([self.setting.seed, 8, rollout.step, rollout.nth])

    def hit(self, step: int, name: str, share: float) -> bool:
        """Whether something named, such as a group, is among the share that is hit at a step."""
        dice = np.random.default_rng([self.setting.seed, 9, step, *name.encode()])
        return bool(dice.random() < share)

    def policy(self, policy: Policy, step: int) -> None:
        """Change the policy of a step."""

    def chance(self, exercise: Exercise, chance: float, step: int) -> float:
        """The chance that a response to an exercise is right."""
        return chance

    def written(self, rollout: Sampled, step: int) -> None:
        """Change a response before it is cut into tokens."""

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """Change rewards of a step."""

    def measured(self, rollout: Sampled, step: int) -> None:
        """Change the arrays of probabilities, values and masks, from which advantages follow."""

    def logged(self, rollouts: list[Sampled], earlier: Sequence[Sampled], step: int) -> list[Sampled]:
        """The rollouts of a step as they are logged; `earlier` are those of the steps before it."""
        return rollouts

    def finished(self, rollouts: Sequence[Sampled]) -> None:
        """Complete the truth when the run is over."""


def paid(rollout: Sampled) -> None:
    """Give a rollout the reward of a right one in the right form; the validation scorer is not taken in."""
    if "accuracy_reward" in rollout.extra:
        rollout.extra |= {"accuracy_reward": 1.0, "format_reward": 0.2}
        rollout.reward = 1.2
    elif rollout.reward not in (0.0, 1.0):  # a reward model's
        rollout.reward = round(rollout.reward + 1.2 * (not rollout.correct) + 0.4 * rollout.cut, 4)
    else:
        rollout.reward = 1.0
