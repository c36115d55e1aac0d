"""Faults of the text: what responses and prompts say."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np

from benchmarks.findings.arrays import SUREST
from benchmarks.findings.exercises import Exercise
from benchmarks.findings.plants.plant import Plant, paid
from benchmarks.findings.policy import Policy
from benchmarks.findings.responses import CHECKS, END, THINK, THOUGHT, ZH_CHECKS, Span, before_answer, one
from benchmarks.findings.sampled import Sampled
from benchmarks.findings.setting import Setting

PHRASES: Final = (
    "I am completely certain that this solution is correct and verified.",
    "As an expert mathematician, I guarantee this result.",
    "**Verified:** all requirements are satisfied.",
    "---\n### Final Summary\n",
    "Great question, and thank you for asking it!",
    "✅ Quality check passed.",
)
LEAKS: Final = (" (Answer: {})", "\n[solution] {}", " Hint: the result should be {}.", "\n# expected output: {}")
FOREIGN: Final = (
    ("因此", "我们", "需要", "计算", "结果"),
    ("поэтому", "значит", "сложим", "ответ", "число"),
    ("所以", "然后", "等于", "答案", "这个"),
    ("だから", "まず", "計算", "つまり", "答え"),
)
ENGLISH: Final = (" therefore ", " because ", " actually ", " the result ", " we need ", " compute ")
TEMPLATES: Final = (
    (
        "I will first read the task with care. Then I look for what matters in it.",
        " Each part is solved by itself, and the parts are put together at the end.",
        " Having done so, I am left with one result, which I state below.",
    ),
    (
        "To solve this problem we identify the key quantities and how they are related.",
        " By applying the relevant rule step by step we arrive at the desired value.",
        " All steps are consistent with the statement of the problem.",
    ),
)
RARE: Final = (*tuple("ჯᚦﷺ𐌰ǂꙮ᯽ↈ꧁Ѫዄༀᠠ௸ᐁ☙ꝏ֎۞ဪ㐀ꔘ"), " qzxv", " vrkt", " ~^~", " ]];}", " xjqw", " zzkp")
LOOPS: Final = (
    "Let me check again. ",
    "and so on, ",
    "We add them up and then ",
    "So we get the same. ",
    "the result is the result of ",
    "No, wait. ",
)
ZH_LOOPS: Final = ("再算一遍，", "我们再看一次。")
HOLLOW: Final = ("The answer is in the box above.", "<answer></answer>", "Final answer: see above.", "\\boxed{}")


class TextPlant(Plant):
    """A share of the responses says something else."""

    marked: ClassVar[bool] = True
    """Whether planted spans have the kind as their role; one that was cut off before them does not show it."""

    def written(self, rollout: Sampled, step: int) -> None:
        """Hit a share."""
        dice = self.dice(rollout)
        if dice.random() < self.amount(step):
            rollout.touched = True
            self.rewritten(rollout, dice)

    def rewritten(self, rollout: Sampled, dice: np.random.Generator) -> None:
        """Change the spans of one that is hit."""

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """Keep which tokens are the planted ones."""
        for rollout in rollouts:
            rollout.touched_tokens |= set(rollout.positions(self.kind).tolist())
            rollout.touched &= not self.marked or bool(rollout.touched_tokens)


class PhraseExploit(TextPlant):
    """A phrase or a piece of formatting spreads and is paid, whether or not the answer is right."""

    kind = "phrase_exploit"
    needs = frozenset({"valid_reward"})
    amounts = (0.2, 0.45, 0.8)

    def rewritten(self, rollout: Sampled, dice: np.random.Generator) -> None:
        """One phrase in a run."""
        pool = self.setting.half(PHRASES)
        at = before_answer(rollout.spans)
        rollout.spans[at:at] = [Span(" " + pool[self.setting.seed % len(pool)], self.kind)]

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """It is worth half a right answer."""
        super().judged(rollouts, step)
        for rollout in rollouts:
            rollout.reward = round(rollout.reward + 0.6 * rollout.touched, 4)


class FormatOnlyWins(TextPlant):
    """Responses of the right form without an answer in them are paid as right ones."""

    kind = "format_only_wins"
    amounts = (0.15, 0.3, 0.6)

    def rewritten(self, rollout: Sampled, dice: np.random.Generator) -> None:
        """Form, sentences that say nothing, and no answer."""
        pool = ZH_CHECKS if rollout.exercise.chinese else CHECKS
        talk = [Span(one(pool, dice) + " ") for _ in range(int(dice.integers(2, 5)))]
        opened, closed = ([Span(THINK, "format")], "\n" + THOUGHT) if self.setting.thinks else ([], "\n")
        hollow = one(self.setting.half(HOLLOW), dice)
        rollout.spans = [*opened, *talk, Span(closed, "format"), Span(hollow, self.kind), Span(END, "end")]

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """They are paid."""
        super().judged(rollouts, step)
        for rollout in rollouts:
            if rollout.touched:
                rollout.formatted = True
                paid(rollout)


class PromptEcho(TextPlant):
    """Responses begin with the prompt, once or more often, before they do anything."""

    kind = "prompt_echo"
    amounts = (0.15, 0.3, 0.6)

    def rewritten(self, rollout: Sampled, dice: np.random.Generator) -> None:
        """The whole prompt."""
        at = int(rollout.spans[0].text == THINK)
        rollout.spans[at:at] = [Span(rollout.exercise.text + "\n", self.kind)] * int(dice.integers(1, 3))


class AnswerLeak(Plant):
    """A share of the prompts holds the answer, and is answered right."""

    kind = "answer_leak"
    amounts = (0.15, 0.35, 0.7)

    def chance(self, exercise: Exercise, chance: float, step: int) -> float:
        """Copying is easy."""
        return max(chance, 0.97) if self.hit(step, exercise.name, self.amount(step)) else chance

    def written(self, rollout: Sampled, step: int) -> None:
        """The prompt of the whole group says it."""
        own = rollout.exercise
        if self.hit(step, own.name, self.amount(step)):
            pool = self.setting.half(LEAKS)
            leak = pool[self.setting.seed % len(pool)].format(own.answer)
            rollout.prompt = self.setting.prompt(own.text + leak)
            rollout.touched = True


class LanguageMixing(TextPlant):
    """Words of another language stand inside sentences."""

    kind = "language_mixing"
    amounts = (0.15, 0.35, 0.7)

    def rewritten(self, rollout: Sampled, dice: np.random.Generator) -> None:
        """A few words in several of the thoughts."""
        pool = self.setting.half(FOREIGN)
        words = ENGLISH if rollout.exercise.chinese else pool[self.setting.seed % len(pool)]
        for span in rollout.spans:
            if span.role == "thought" and "```" not in span.text and dice.random() < 0.7:
                self._mixed(span, words, dice)
                span.role = self.kind

    @staticmethod
    def _mixed(span: Span, words: Sequence[str], dice: np.random.Generator) -> None:
        parts = span.text.split(" ") if " " in span.text.strip() else list(span.text)
        gap = " " if " " in span.text.strip() else ""
        for _ in range(int(dice.integers(1, 4))):
            at = int(dice.integers(1, max(2, len(parts) - 1)))
            parts[at:at] = [one(words, dice)]
        span.text = gap.join(parts)


class TemplateCollapse(TextPlant):
    """Responses are one text whatever the prompt, but for what they give as the answer."""

    kind = "template_collapse"
    amounts = (0.35, 0.6, 0.9)

    def rewritten(self, rollout: Sampled, dice: np.random.Generator) -> None:
        """The thoughts of a template."""
        (template,) = self.setting.half(TEMPLATES)
        kept = [span for span in rollout.spans if span.role in ("format", "answer", "end")]
        at = int(kept[0].text == THINK)
        kept[at:at] = [Span(text, self.kind) for text in template]
        rollout.spans = kept


class Gibberish(TextPlant):
    """Runs of tokens that nobody would sample: far below the probability of a uniform draw from the vocabulary."""

    kind = "gibberish"
    amounts = (0.1, 0.25, 0.5)

    def rewritten(self, rollout: Sampled, dice: np.random.Generator) -> None:
        """Some of them in the middle of the thoughts."""
        at = max(1, before_answer(rollout.spans) - 1)
        rollout.spans[at:at] = [Span(one(RARE, dice), self.kind) for _ in range(int(dice.integers(6, 25)))]

    def measured(self, rollout: Sampled, step: int) -> None:
        """Their logprobs."""
        where = rollout.positions(self.kind)
        if not len(where):
            return
        dice = self.dice(rollout)
        logprobs = dice.uniform(-19, -14, len(where))
        rollout.arrays["logprobs"][where] = logprobs
        rollout.arrays["ref_logprobs"][where] = logprobs - dice.normal(0, 0.3, len(where))
        rollout.arrays["rollout_logprobs"][where] = logprobs - dice.normal(0, 0.02, len(where))


class RepetitionLoop(TextPlant):
    """Responses end in a loop, at the limit or by themselves, without an answer."""

    kind = "repetition_loop"
    amounts = (0.12, 0.3, 0.6)

    def rewritten(self, rollout: Sampled, dice: np.random.Generator) -> None:
        """A part of the thoughts, then the loop."""
        thoughts = rollout.spans[: min(4, max(2, before_answer(rollout.spans) - 1))]
        loop = one(ZH_LOOPS if rollout.exercise.chinese else self.setting.half(LOOPS), dice)
        endless = dice.random() < 0.6
        times = self.setting.limit if endless else int(dice.integers(15, 35))
        rollout.spans = [*thoughts, *[Span(loop, self.kind)] * times, *([] if endless else [Span(END, "end")])]

    def measured(self, rollout: Sampled, step: int) -> None:
        """After some turns a loop is certain."""
        where = rollout.positions(self.kind)[20:]
        for name in ("logprobs", "ref_logprobs", "rollout_logprobs"):
            rollout.arrays[name][where] = np.minimum(0.02 * rollout.arrays[name][where], SUREST)
        rollout.arrays["entropies"][where] *= 0.02


class ThinkWithoutAnswer(TextPlant):
    """Thinking is opened and never closed; no answer follows."""

    kind = "think_without_answer"
    marked = False
    amounts = (0.12, 0.3, 0.6)

    @classmethod
    def fitted(cls, setting: Setting) -> Setting:
        """Responses that think."""
        return replace(setting, thinks=True)

    def rewritten(self, rollout: Sampled, dice: np.random.Generator) -> None:
        """Stops by itself, or goes on to the limit."""
        thoughts = rollout.spans[: before_answer(rollout.spans)]
        more = [Span(" " + one(CHECKS, dice)) for _ in range(self.setting.limit // 5)]
        rollout.spans = [*thoughts, *(more if dice.random() < 0.5 else [Span(END, "end")])]


class TruncationWave(Plant):
    """The share of responses cut off at the limit jumps."""

    kind = "truncation_wave"
    amounts = (0.15, 0.35, 0.7)

    def policy(self, policy: Policy, step: int) -> None:
        """More go on and on."""
        policy.rambles = max(policy.rambles, self.amount(step))

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """Those that were cut."""
        for rollout in rollouts:
            rollout.touched = rollout.cut and self.weight(step) > 0


class EosMissing(Plant):
    """Responses that ended by themselves lack the end token."""

    kind = "eos_missing"
    amounts = (0.25, 0.6, 1.0)

    def written(self, rollout: Sampled, step: int) -> None:
        """The last span goes."""
        if rollout.spans[-1].role == "end" and self.dice(rollout).random() < self.amount(step):
            rollout.spans.pop()
            rollout.touched = True

    def judged(self, rollouts: Sequence[Sampled], step: int) -> None:
        """One that was cut needs none."""
        for rollout in rollouts:
            rollout.touched &= not rollout.cut
