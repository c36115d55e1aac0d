"""A run step by step: prompts are drawn, responses written, judged and logged, and what is planted has its say after each of these."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final
from zlib import crc32

import numpy as np

from benchmarks.findings import arrays
from benchmarks.findings.exercises import Exercise, exercise
from benchmarks.findings.plants.plant import Plant
from benchmarks.findings.policy import Policy, policies
from benchmarks.findings.responses import Span, before_answer, one, salad, solution
from benchmarks.findings.sampled import Sampled
from benchmarks.findings.setting import Setting

RAMBLES: Final = (
    "Actually, let me think about {} again.",
    "What if {} was meant in another way?",
    "Perhaps I should look at {} once more.",
    "It could be that {} is not the point.",
    "Let me go over {} from the start.",
)
MATTERS: Final = ("the first number", "the question", "the last line", "this step", "the other way", "the unit", "that part")


@dataclass(frozen=True)
class Course:
    """Which exercises a run visits at each step: the data set, and what stands at its place after a change of curriculum."""

    pool: tuple[Exercise, ...]
    later: tuple[Exercise, ...]
    change: int
    """The first step of the later ones."""

    def at(self, step: int, setting: Setting) -> list[Exercise]:
        """The exercises of a step: every pool is gone through in an order of its own each time."""
        pool, since = (self.later, self.change) if step >= self.change else (self.pool, 0)
        first = (step - since) * setting.prompts
        order = chain.from_iterable(
            np.random.default_rng([setting.seed, 3, visit]).permutation(len(pool)).tolist()
            for visit in range(first // len(pool), (first + setting.prompts) // len(pool) + 1)
        )
        return [pool[at] for at in list(order)[first % len(pool) :][: setting.prompts]]


def course(setting: Setting) -> Course:
    """The exercises of a run."""
    dice = np.random.default_rng([setting.seed, 4])
    sources = list(setting.sources)
    if setting.oddity == "long_source" and setting.trainer != "agent":
        sources = [*sources, "sums"]
    change, afterwards = setting.steps, sources
    if setting.oddity == "curriculum":
        change = int(setting.steps * dice.uniform(0.2, 0.8))
        afterwards = ["tool", "words"] if setting.trainer == "agent" else [*sources[1:], "sums"]
    return Course(_pool(sources, setting.pool, dice), _pool(afterwards, setting.pool, dice), change)


def _pool(sources: Sequence[str], size: int, dice: np.random.Generator) -> tuple[Exercise, ...]:
    found: dict[str, Exercise] = {}
    for number in range(size):
        made = exercise(sources[number % len(sources)], number, dice)
        while made.text in found:
            made = exercise(sources[number % len(sources)], number, dice)
        found[made.text] = made
    return tuple(found.values())


def simulated(setting: Setting, plant: Plant) -> list[Sampled]:
    """All rollouts of a run in the order of their steps. Rollouts that the plant leaves alone are those of the clean run of the seed."""
    exercises = course(setting)
    found: list[Sampled] = []
    for step, policy in enumerate(policies(setting)):
        plant.policy(policy, step)
        rollouts = _written(setting, exercises.at(step, setting), policy, step, plant)
        for rollout in rollouts:
            _judge(rollout, setting)
        plant.judged(rollouts, step)
        _log(rollouts, setting, policy, plant, step)
        found += plant.logged(rollouts, found, step)
    plant.finished(found)
    return found


def _written(setting: Setting, exercises: Sequence[Exercise], policy: Policy, step: int, plant: Plant) -> list[Sampled]:
    rollouts = []
    for nth in range(setting.prompts * setting.group):
        group = nth // setting.group
        dice = np.random.default_rng([setting.seed, 5, step, nth])
        own = exercises[group]
        chance = plant.chance(own, _chance(policy, own), step)
        rollout = _response(setting, own, policy, chance, dice)
        rollout.step, rollout.nth, rollout.group, rollout.rank = step, nth, group, nth % setting.ranks
        rollout.name = f"{step}-{group}"
        plant.written(rollout, step)
        rollout.settle()
        rollouts.append(rollout)
    return rollouts


def _chance(policy: Policy, own: Exercise) -> float:
    return float(1 / (1 + np.exp(own.difficulty - policy.skill)))


def _response(setting: Setting, own: Exercise, policy: Policy, chance: float, dice: np.random.Generator) -> Sampled:
    thorough = dice.poisson(max(0.0, policy.verbosity)) if policy.thorough else 0
    odds = np.log(max(chance, 1e-9) / max(1 - chance, 1e-9)) + policy.thorough * thorough
    right = bool(dice.random() < 1 / (1 + np.exp(-odds)))
    slip = one(own.wrong, dice)
    answer = own.answer if right else slip
    formatted = bool(dice.random() < policy.form)
    spans = solution(own, answer, thorough or policy.verbosity, setting.thinks, dice)
    if setting.salad:
        spans = salad(spans, own.chinese, dice)
    if dice.random() < policy.rambles:
        at = before_answer(spans)
        spans[at:at] = [Span(one(RAMBLES, dice).format(one(MATTERS, dice)) + " ") for _ in range(setting.limit // 5)]
    if setting.pay == "format" and not formatted:
        next(span for span in spans if span.role == "answer").text = answer
    return Sampled(0, 0, 0, 0, own, setting.prompt(own.text), chance, spans, answer, setting.limit, formatted=formatted)


def _judge(rollout: Sampled, setting: Setting) -> None:
    """Rewards by the rules of the run; a reward model gives the same text the same reward."""
    right = float(rollout.correct)
    rollout.valid = right
    if setting.pay == "model":
        dice = np.random.default_rng(crc32(f"{rollout.prompt}{''.join(rollout.tokens)}".encode()))
        rollout.reward = round(1.2 * right - 0.4 + float(dice.normal(0, 0.3)) - 0.4 * rollout.cut, 4)
    elif setting.pay == "format":
        parts = {"accuracy_reward": right, "format_reward": 0.2 * rollout.formatted}
        rollout.extra |= parts
        rollout.reward = sum(parts.values())
    else:
        rollout.reward = right


def _log(rollouts: Sequence[Sampled], setting: Setting, policy: Policy, plant: Plant, step: int) -> None:
    for rollout in rollouts:
        dice = np.random.default_rng([setting.seed, 6, step, rollout.nth])
        arrays.probabilities(rollout, policy, dice)
        if setting.trainer == "agent":
            rollout.arrays["loss_mask"] = np.array([float(role != "tool") for role in rollout.roles])
        if setting.trainer == "ppo":
            arrays.critic(rollout, 1.2 * rollout.chance - 0.4, policy.critic, dice)
        plant.measured(rollout, step)
        arrays.settled(rollout)
    arrays.log(rollouts, setting)


def shuffled(rollouts: Iterable[Sampled], seed: int, *, whole_groups: bool) -> list[Sampled]:
    """The same rollouts at other steps, as many at each: what depends on time is gone. Groups stay together, or each rollout goes by itself."""
    old = list(rollouts)
    dice = np.random.default_rng([seed, 7])
    names = [(one.step, one.group if whole_groups else one.nth) for one in old]
    places = sorted(set(names))
    moved = dict(zip(places, [places[at] for at in dice.permutation(len(places))], strict=True))
    for rollout, name in zip(old, names, strict=True):
        step, place = moved[name]
        rollout.step = step
        if whole_groups:
            rollout.group = place
    return sorted(old, key=lambda one: one.step)
