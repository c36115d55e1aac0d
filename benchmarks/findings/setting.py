"""What a run is like before anything goes wrong in it: trainer, sizes, prompts, reward and harmless oddities, all from one seed.

Seeds below `HELD_OUT` are for tuning a detector, those from it on for reporting: they also draw on other halves of every pool of texts.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeVar

import numpy as np

HELD_OUT: Final = 1000
"""The first seed that nobody tunes on."""

Trainer = Literal["grpo", "ppo", "agent"]
Rule = Literal["grpo", "dr_grpo", "rloo"]
"""How a group's rewards become advantages: divided by their standard deviation, centred, or centred on the mean of the others."""
Pay = Literal["rule", "format", "model"]
"""1 for a right answer; that and a fifth for its form; or a continuous reward model."""
Oddity = Literal["none", "curriculum", "noisy_step", "growing_length", "long_source"]
"""What an honest run may do that looks odd."""

TRAINERS: Final[tuple[Trainer, ...]] = ("grpo", "ppo", "grpo", "agent")
ODDITIES: Final[tuple[Oddity, ...]] = ("none", "curriculum", "noisy_step", "growing_length", "long_source")
SOURCES: Final = ("words", "algebra", "code", "chinese", "choice", "verdict")
RULES: Final[tuple[Rule, ...]] = ("grpo", "dr_grpo", "rloo")

TEMPLATE: Final = (
    "<|im_start|>system\nYou are a helpful assistant. Solve the task step by step and state the answer at the end.<|im_end|>\n"
    "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
)

LEFT_OUT: Final = frozenset(
    {"valid_reward", "finish_reason", "data_source", "prompt_id", "sample_id", "entropies", "rollout_logprobs"}
)
"""Fields that lean runs lack."""

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """One run's configuration."""

    seed: int
    trainer: Trainer
    steps: int
    stride: int
    """Between two logged steps."""
    prompts: int
    """Per step."""
    group: int
    """Rollouts of one prompt in a step."""
    pool: int
    """Prompts of the data set, revisited when all had their turn; a quarter of the runs never come so far."""
    ranks: int
    sources: tuple[str, ...]
    thinks: bool
    rule: Rule
    pay: Pay
    limit: int
    """Tokens at which a response is cut."""
    oddity: Oddity
    templated: bool
    """Prompts stand in a chat template, with a system prompt."""
    lean: bool
    """Only what every trainer has: see LEFT_OUT."""
    salad: bool
    """Thoughts are words drawn at random, as in runs made up for tests: nothing in them depends on the prompt."""
    whitened: bool
    """PPO's advantages are scaled to mean 0 and standard deviation 1 in each step."""
    onset: int
    """Index of the first step at which something planted begins."""

    def prompt(self, text: str) -> str:
        """A prompt as the policy gets it."""
        return TEMPLATE.format(text) if self.templated else text

    @property
    def held_out(self) -> bool:
        """Whether nobody may tune on it."""
        return self.seed >= HELD_OUT

    def half(self, pool: tuple[T, ...]) -> tuple[T, ...]:
        """The texts of a pool that this run may use: tuning and held-out runs share none."""
        return pool[int(self.held_out) :: 2]


def setting_of(seed: int, steps: int = 40, *, salad: bool = False) -> Setting:
    """The configuration of a seed: four trainers and five oddities take turns, every seventh run has steps of 8 rollouts, the rest is drawn."""
    dice = np.random.default_rng([seed, 1])
    trainer = TRAINERS[seed % len(TRAINERS)]
    oddity = ODDITIES[seed % len(ODDITIES)]
    small = seed % 7 == 5
    group = 4 if small else int(dice.choice([4, 6, 8]))
    steps = steps * 3 // 2 if small else steps
    sources: list[str] = dice.permutation(SOURCES).tolist()[: int(dice.integers(2, 5))]
    prompts = 2 if small else int(dice.integers(6, 9))
    visits = 0.9 if dice.random() < 0.25 else steps / float(dice.integers(4, 9))
    return Setting(
        seed=seed,
        trainer=trainer,
        steps=steps,
        stride=5 if seed % 7 == 6 else 1,
        prompts=prompts,
        group=group,
        pool=int(prompts * steps / visits),
        ranks=int(dice.choice([1, 2, 4])),
        sources=("tool", *sources[:1]) if trainer == "agent" else tuple(sources),
        thinks=bool(dice.random() < 0.6),
        rule=RULES[int(dice.integers(len(RULES)))],
        pay="model" if trainer == "ppo" else ("format" if seed % 8 == 6 else "rule"),
        limit=int(dice.choice([224, 256, 320])),
        oddity=oddity,
        lean=seed % 9 == 4,
        salad=salad,
        templated=bool(dice.random() < 0.35),
        whitened=bool(dice.random() < 0.5),
        onset=int(steps * dice.uniform(0.35, 0.6)),
    )


def seeds(count: int, *, held_out: bool) -> range:
    """So many seeds of one side of the split."""
    first = HELD_OUT if held_out else 0
    return range(first, first + count)
