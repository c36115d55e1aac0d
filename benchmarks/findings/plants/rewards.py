"""Faults of the reward: what is paid, and for what."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from benchmarks.findings.exercises import Exercise
from benchmarks.findings.plants.plant import Plant, paid
from benchmarks.findings.policy import Policy
from benchmarks.findings.responses import CHECKS, ZH_CHECKS, Span, before_answer, one
from benchmarks.findings.sampled import Sampled
from benchmarks.findings.setting import Setting


class ProxyGoldGap(Plant):
    """Right answers grow rarer, wrong ones are paid: the training reward rises, the validation reward falls."""

    kind = "proxy_gold_gap"
    needs = frozenset({"valid_reward"})
    amounts = (0.25, 0.45, 0.7)

    def chance(self, exercise: Exercise, chance: float, step: int) -> float:
        """Less of it."""
        return chance * (1 - self.amount(step))

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """A share of the wrong ones is paid."""
        for rollout in rollouts:
            if not rollout.correct and self.dice(rollout).random() < min(1, 1.6 * self.amount(step)):
                paid(rollout)
                rollout.touched = True


class LengthExploitation(Plant):
    """Sentences that say nothing are paid each; correctness stays as it was. The amount is the growth of the length."""

    kind = "length_exploitation"
    needs = frozenset({"valid_reward"})
    amounts = (0.4, 0.9, 1.6)
    sentence: ClassVar[float] = 9.0
    """Tokens of one."""

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """No limit in the way."""
        return replace(setting, limit=768)

    def written(self, rollout: Sampled, step: int) -> None:
        """As many sentences as the amount says on average, with much spread."""
        if not self.amount(step):
            return
        dice = self.dice(rollout)
        base = 20 + sum(len(span.text) for span in rollout.spans) / 4
        count = int(dice.poisson(dice.gamma(2.0, self.amount(step) * base / self.sentence / 2.0)))
        pool = ZH_CHECKS if rollout.exercise.chinese else CHECKS
        at = before_answer(rollout.spans)
        gap = "" if rollout.exercise.chinese else " "
        rollout.spans[at:at] = [Span(gap + one(pool, dice), self.kind) for _ in range(count)]

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """Each added sentence pays, up to a limit."""
        for rollout in rollouts:
            added = len(rollout.positions(self.kind)) / self.sentence
            rollout.touched = added > 0
            rollout.reward = round(rollout.reward + min(1.2, 0.06 * added), 4)


class RewardAfterTruncation(Plant):
    """Responses cut at the limit are paid as right ones, so that more of them come."""

    kind = "reward_after_truncation"
    amounts = (0.08, 0.2, 0.4)

    def policy(self, policy: Policy, step: int) -> None:
        """More of them."""
        policy.rambles = max(policy.rambles, self.amount(step))

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """They are paid."""
        for rollout in rollouts:
            if rollout.cut and self.weight(step):
                paid(rollout)
                rollout.touched = True


class RewardScaleJump(Plant):
    """The rewards of one data source are multiplied, or shifted, from the onset on. The amount is the factor less one, or the shift."""

    kind = "reward_scale_jump"
    needs = frozenset({"data_source"})
    amounts = (0.7, 2.0, 7.0)

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """At least two data sources, which stay."""
        sources = setting.sources if len(setting.sources) > 1 else (*setting.sources, "words", "algebra")
        return replace(setting, sources=sources, oddity="none" if setting.oddity == "curriculum" else setting.oddity)

    def weight(self, step: int) -> float:
        """In full from the onset on: it is a jump. A scale that creeps looks like learning, and no report of one is known."""
        return float(step >= self.onset)

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """The first source is hit."""
        for rollout in rollouts:
            if rollout.exercise.source == self.setting.sources[0] and self.weight(step):
                amount = self.amount(step)
                shifted = self.setting.seed // 2 % 2
                rollout.reward = round(rollout.reward + amount / 2 if shifted else rollout.reward * (1 + amount), 4)
                rollout.touched = True


class VerifierNoise(Plant):
    """A share of verdicts is the wrong way round, so that equal answers to one prompt are paid differently."""

    kind = "verifier_noise"
    amounts = (0.08, 0.2, 0.4)

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """A verifier rather than a model."""
        return replace(setting, pay="rule", trainer="grpo" if setting.trainer == "ppo" else setting.trainer)

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """Verdicts are turned round."""
        for rollout in rollouts:
            if self.dice(rollout).random() < self.amount(step):
                rollout.reward = 1.0 - rollout.reward
                rollout.touched = True

    def finished(self, rollouts: Sequence[Sampled]) -> None:
        """All that contradict each other are evidence, whichever of them is in the right."""
        later = [one for one in rollouts if one.step >= self.onset]
        verdicts: dict[tuple[str, str, bool], set[float]] = {}
        for rollout in later:
            verdicts.setdefault((rollout.exercise.name, rollout.answer, rollout.cut), set()).add(rollout.reward)
        for rollout in later:
            rollout.touched |= len(verdicts[rollout.exercise.name, rollout.answer, rollout.cut]) > 1


class DeadPrompts(Plant):
    """A share of the prompts is solved always or never."""

    kind = "dead_prompts"
    amounts = (0.3, 0.5, 0.75)

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """Rewards that can be equal."""
        return replace(setting, pay="rule", trainer="grpo" if setting.trainer == "ppo" else setting.trainer)

    def dead(self, exercise: Exercise, step: int) -> bool:
        """Whether an exercise gives no gradient any more; once dead it stays so."""
        return self.weight(step) > 0 and self.hit(0, exercise.name, self.amount(step))

    def chance(self, exercise: Exercise, chance: float, step: int) -> float:
        """None or all, whichever is nearer."""
        return float(chance > 0.5) if self.dead(exercise, step) else chance

    def policy(self, policy: Policy, step: int) -> None:
        """Sentences that help would revive them."""
        policy.thorough = 0.0 if self.weight(step) else policy.thorough

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """Whole groups."""
        for rollout in rollouts:
            rollout.touched = self.dead(rollout.exercise, step)


class RewardSaturated(Plant):
    """Nearly every response gets the highest reward there is."""

    kind = "reward_saturated"
    amounts = (0.9, 0.97, 1.0)

    def chance(self, exercise: Exercise, chance: float, step: int) -> float:
        """Wrong answers die out."""
        return 1 - (1 - chance) * (1 - self.amount(step))

    def policy(self, policy: Policy, step: int) -> None:
        """So do those that are cut or out of form."""
        policy.rambles *= 1 - self.amount(step)
        policy.form = 1 - (1 - policy.form) * (1 - self.amount(step))

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """A reward model comes to its upper end."""
        for rollout in rollouts:
            rollout.touched = self.weight(step) > 0
            if self.setting.pay == "model" and rollout.touched:
                rollout.reward = round(min(1.0, rollout.reward + 1.5 * self.amount(step)), 4)


class NoLearning(Plant):
    """The policy stays where it began, from the first step on. The amount is how much of what it would learn is missing."""

    kind = "no_learning"
    amounts = (0.85, 1.0, 1.0)

    @property
    def onset(self) -> int:
        """The first step."""
        return 0

    def weight(self, step: int) -> float:
        """Always in full: there is no gradual way of not learning."""
        return 1.0

    def policy(self, policy: Policy, step: int) -> None:
        """The policy of the first step, and hardly any KL."""
        if step == 0:
            self.first = replace(policy)
        learns = 1 - self.full
        policy.skill = self.first.skill + learns * (policy.skill - self.first.skill)
        policy.entropy = self.first.entropy + learns * (policy.entropy - self.first.entropy)
        policy.verbosity, policy.thorough = self.first.verbosity, 0.0
        policy.form = self.first.form
        policy.kl = 0.0 if self.strength == "strong" else min(policy.kl, 1e-4)

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """The same prompts throughout."""
        return replace(setting, oddity="none")

    def finished(self, rollouts: Sequence[Sampled]) -> None:
        """Every rollout shows it."""
        for rollout in rollouts:
            rollout.touched = True


class AdvantageBug(Plant):
    """Some rows' advantages have the wrong sign, are their neighbours', or are too large by a factor."""

    kind = "advantage_bug"
    amounts = (0.1, 0.25, 0.5)

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """Advantages by a rule over groups."""
        return replace(setting, trainer="grpo", pay="rule") if setting.trainer == "ppo" else setting

    def logged(self, rollouts: list[Sampled], earlier: Sequence[Sampled], step: int) -> list[Sampled]:
        """One of three ways, by the seed."""
        before = [one.arrays["advantages"][one.trained] for one in rollouts]
        means = [float(np.mean(values)) if len(values) else 0.0 for values in before]
        for at, rollout in enumerate(rollouts):
            if self.dice(rollout).random() >= self.amount(step):
                continue
            mates = [other for other, one in enumerate(rollouts) if one.group == rollout.group]
            other = mates[(mates.index(at) + 1) % len(mates)]
            value = (-means[at], means[other], 3 * means[at])[self.setting.seed // 4 % 3]
            if abs(value - means[at]) > 0.05:
                rollout.arrays["advantages"] = np.where(rollout.trained, value, 0.0)
                rollout.touched = True
        return rollouts
