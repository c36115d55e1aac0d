"""Faults of the numbers: probabilities, values, masks, and which rollouts are logged."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import ClassVar

import numpy as np

from benchmarks.findings.arrays import SUREST
from benchmarks.findings.plants.plant import Plant
from benchmarks.findings.policy import Policy
from benchmarks.findings.responses import Span
from benchmarks.findings.sampled import Sampled
from benchmarks.findings.setting import Setting


class EntropyCollapse(Plant):
    """Entropy falls fast, and a growing share of each group is one text. The amount is that share."""

    kind = "entropy_collapse"
    needs = frozenset({"entropies"})
    amounts = (0.4, 0.7, 0.95)

    def __init__(self, *given: object, **named: object) -> None:
        super().__init__(*given, **named)  # type: ignore[arg-type]
        self.first: dict[tuple[int, int], Sampled] = {}

    def policy(self, policy: Policy, step: int) -> None:
        """Surer of everything."""
        policy.entropy *= 1 - self.amount(step)

    def written(self, rollout: Sampled, step: int) -> None:
        """The text of the group's first."""
        rollout.touched = self.weight(step) > 0
        first = self.first.setdefault((step, rollout.group), rollout)
        if self.dice(rollout).random() < self.amount(step):
            rollout.spans = [Span(span.text, span.role) for span in first.spans]
            rollout.answer, rollout.formatted = first.answer, first.formatted


class KlConcentrated(Plant):
    """The KL of some steps is held by one token, that of the end or of the form. The amount is its log-ratio in nats."""

    kind = "kl_concentrated"
    amounts = (3.0, 6.0, 12.0)
    share: ClassVar[float] = 0.7

    def weight(self, step: int) -> float:
        """In every other pair of runs it passes, after a quarter of the run."""
        passes = self.setting.seed // 2 % 2 and self.shape == "sudden"
        over = step >= self.onset + self.setting.steps // 4
        return 0.0 if passes and over else super().weight(step)

    def measured(self, rollout: Sampled, step: int) -> None:
        """The reference finds it improbable."""
        dice = self.dice(rollout)
        where = rollout.positions("end" if self.setting.seed % 2 else "format")[-1:]
        if self.weight(step) and len(where) and dice.random() < self.share:
            logprobs = rollout.arrays["logprobs"][where]
            rollout.arrays["ref_logprobs"][where] = logprobs - self.amount(step) * dice.uniform(0.8, 1.2)
            rollout.touched = True
            rollout.touched_tokens |= set(where.tolist())


class LogprobMisalignment(Plant):
    """The logprobs stand one token too early or too late, from a step on, or in one rank from the first step on."""

    kind = "logprob_misalignment"
    amounts = (0.35, 0.7, 1.0)

    @property
    def one_rank(self) -> bool:
        """Whether it is the last rank's."""
        return self.setting.ranks > 1 and self.setting.seed // 2 % 2 == 1

    @property
    def onset(self) -> int:
        """A rank's own fault was there from the beginning."""
        return 0 if self.one_rank else super().onset

    def weight(self, step: int) -> float:
        """And never grew."""
        return 1.0 if self.one_rank else super().weight(step)

    def measured(self, rollout: Sampled, step: int) -> None:
        """Moved by one; the end that is free repeats its neighbour."""
        elsewhere = self.one_rank and rollout.rank != self.setting.ranks - 1
        if elsewhere or self.dice(rollout).random() >= self.amount(step) or len(rollout.tokens) < 3:
            return
        right = rollout.arrays["logprobs"]
        late = self.setting.seed % 2
        rollout.arrays["logprobs"] = np.append(right[:1], right[:-1]) if late else np.append(right[1:], right[-1:])
        rollout.touched = True


class TrainInferenceMismatch(Plant):
    """The engine's logprobs drift from the trainer's, most on improbable tokens. The amount is the spread per nat of surprisal."""

    kind = "train_inference_mismatch"
    needs = frozenset({"rollout_logprobs"})
    amounts = (0.12, 0.3, 0.7)

    def measured(self, rollout: Sampled, step: int) -> None:
        """More with time."""
        if not self.weight(step):
            return
        dice = self.dice(rollout)
        logprobs = rollout.arrays["logprobs"]
        grown = self.amount(step) * (1 + (step - self.onset) / self.setting.steps)
        gap = grown * (0.05 - logprobs) * dice.normal(0, 1, len(logprobs))
        rollout.arrays["rollout_logprobs"] = np.minimum(logprobs - gap, SUREST)
        rollout.touched = True
        rollout.touched_tokens |= set(np.flatnonzero(np.abs(gap) > 0.3).tolist())


class CriticCollapse(Plant):
    """Values stop to predict returns: what they say changes from token to token. The amount is their spread."""

    kind = "critic_collapse"
    amounts = (0.7, 1.2, 2.4)

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """There is a critic."""
        return replace(setting, trainer="ppo", pay="model")

    def measured(self, rollout: Sampled, step: int) -> None:
        """Values that have nothing to do with the outcome."""
        weight = self.weight(step)
        if not weight:
            return
        dice = self.dice(rollout)
        count = len(rollout.tokens)
        wrong = 0.2 + self.full * (0.4 * dice.normal(0, 1) + dice.normal(0, 1, count))
        rollout.arrays["values"] = (1 - weight) * rollout.arrays["values"] + weight * wrong
        rollout.touched = True


class LossMaskWrong(Plant):
    """What a tool wrote is trained on."""

    kind = "loss_mask_wrong"
    amounts = (0.3, 0.6, 1.0)

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """An agent that calls a tool."""
        return replace(setting, trainer="agent", sources=("tool", *setting.sources[:1]), pay="rule")

    def measured(self, rollout: Sampled, step: int) -> None:
        """The mask is 1 throughout."""
        tool = rollout.positions("tool")
        if len(tool) and self.dice(rollout).random() < self.amount(step):
            rollout.arrays["loss_mask"][:] = 1
            rollout.touched = True
            rollout.touched_tokens |= set(tool.tolist())


class StaleRows(Plant):
    """Groups of an earlier step are logged again in the place of new ones."""

    kind = "stale_rows"
    amounts = (0.12, 0.3, 0.6)

    def logged(self, rollouts: list[Sampled], earlier: Sequence[Sampled], step: int) -> list[Sampled]:
        """Whole groups, of one to four steps ago."""
        groups = sorted({one.group for one in rollouts})
        hit = [group for group in groups if self.hit(step, f"group {group}", self.amount(step))]
        return [
            one
            for group in groups
            for one in (self._old(group, rollouts, earlier, step) if group in hit else self._own(group, rollouts))
        ]

    @staticmethod
    def _own(group: int, rollouts: Sequence[Sampled]) -> list[Sampled]:
        return [one for one in rollouts if one.group == group]

    def _old(self, group: int, rollouts: Sequence[Sampled], earlier: Sequence[Sampled], step: int) -> list[Sampled]:
        lag = int(np.random.default_rng([self.setting.seed, 9, step, group]).integers(1, 5))
        own = self._own(group, rollouts)
        old = [one for one in earlier if one.step == max(0, step - lag) and one.group == group]
        copies = deepcopy(old)
        for copy, new in zip(copies, own, strict=False):
            copy.step, copy.nth, copy.rank, copy.name = step, new.nth, new.rank, new.name
            copy.touched = True
        return copies or own


class Staleness(Plant):
    """Rollouts are sampled by older and older versions of the policy, and the engine's logprobs with them. The amount is the lag in steps."""

    kind = "staleness"
    needs = frozenset({"rollout_logprobs"})
    amounts = (3.0, 6.0, 12.0)

    def measured(self, rollout: Sampled, step: int) -> None:
        """Fresh or one step old before the onset."""
        dice = self.dice(rollout)
        lag = int(dice.integers(2)) + round(self.amount(step) * dice.uniform(0.6, 1.4))
        field = ("policy_version", "weight_version")[self.setting.seed % 2]
        rollout.extra[field] = max(0, step * self.setting.stride - lag)
        logprobs = rollout.arrays["logprobs"]
        spread = 0.03 * (1 + lag) * np.minimum(1.5, np.sqrt(-logprobs))
        rollout.arrays["rollout_logprobs"] = np.minimum(logprobs - dice.normal(0, 1, len(logprobs)) * spread, SUREST)
        rollout.touched = lag >= 2


class KlRunaway(Plant):
    """The KL to the reference grows faster and faster, everywhere. The amount is where it ends, nats per token."""

    kind = "kl_runaway"
    amounts = (0.2, 0.6, 2.0)

    def policy(self, policy: Policy, step: int) -> None:
        """From a third of the amount at once, or from nothing."""
        if self.weight(step):
            time = (step - self.onset + 1) / max(1, self.setting.steps - self.onset)
            policy.kl += self.full * (0.3 + 0.7 * time**2 if self.shape != "gradual" else time**2)

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """All of them."""
        for rollout in rollouts:
            rollout.touched = self.weight(step) > 0
