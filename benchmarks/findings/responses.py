"""Responses as pieces of text with a role each, and their tokens. Knows nothing of rewards and numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.findings.exercises import Exercise

END: Final = "<|im_end|>"
THINK: Final = "<think>\n"
THOUGHT: Final = "</think>\n"

OPENERS: Final = (
    "Let me work through this.",
    "First, what is given?",
    "Okay, let us see.",
    "I will go step by step.",
    "This can be done in a few steps.",
    "Reading the question again helps.",
    "We begin with the numbers.",
    "What do we know so far?",
)
CHECKS: Final = (
    "Let me check that by going backwards.",
    "Wait, is that the right operation? Yes, it is.",
    "The size of the number looks plausible.",
    "A rough estimate is close to it.",
    "I should make sure that nothing was left out.",
    "Doing it once more leads to the same place.",
    "Nothing else in the question changes it.",
    "That fits what was asked.",
    "Hmm, the units agree as well.",
    "The other way round it works too.",
    "No number was used twice.",
    "It is worth looking at the last step again.",
)
ZH_OPENERS: Final = (
    "我们先看题目。",
    "一步一步来算。",
    "首先整理已知条件。",
    "先理解题意。",
    "好的，开始计算。",
    "这道题分两步。",
)
ZH_CHECKS: Final = (
    "检查一下，没有问题。",
    "等等，再算一遍。",
    "估算一下，大小合理。",
    "条件都用到了。",
    "反过来算也对。",
    "单位也是一致的。",
)
ANSWERS: Final = ("The answer is {}.", "So the answer is {}.", "Answer: {}", "Therefore the final answer is {}.")
ZH_ANSWERS: Final = ("答案是{}。", "所以答案是{}。", "因此最后的答案是{}。")

_SYLLABLES: Final = ("ba", "den", "lo", "mi", "ra", "ter", "so", "vin", "ka", "pel", "un", "gro", "si", "tal", "me", "du")
WORDS: Final = (
    *(
        "the",
        "of",
        "and",
        "so",
        "we",
        "is",
        "that",
        "in",
        "it",
        "then",
        ".",
        ",",
        "for",
        "this",
        "with",
        "as",
        "on",
        "by",
        "=",
        "+",
    ),
    *(first + second for first in _SYLLABLES for second in _SYLLABLES),
)
ZH_WORDS: Final = tuple(
    "的，一是。不了在有人我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
)

_TOKEN: Final = re.compile(r"<\|?[a-z_/]{1,20}\|?>| ?[A-Za-z]+| ?\d{1,3}|[\u4e00-\u9fff]{1,2}|\n+| +|.", re.DOTALL)
_LONG: Final = 7
"""Letters from which on a word is two tokens."""


@dataclass
class Span:
    """A piece of a response: its text, and what it is there for."""

    text: str
    role: str = "thought"
    """`thought`, `answer`, `format`, `tool`, `end`, or the kind that planted it."""


def one(pool: Sequence[str], dice: np.random.Generator) -> str:
    """One of several texts."""
    return pool[int(dice.integers(len(pool)))]


def tokens_of(text: str) -> list[str]:
    """Tokens that join to the text: words with their space, up to three digits, one or two Chinese characters, tags whole."""
    found: list[str] = []
    for token in _TOKEN.findall(text):
        if len(token) > _LONG and token[-1].isalpha() and token[0] != "<":
            found += [token[:5], token[5:]]
        else:
            found.append(token)
    return found


def solution(exercise: Exercise, answer: str, verbosity: float, thinks: bool, dice: np.random.Generator) -> list[Span]:
    """A response that arrives at `answer`, right or not. `verbosity` is the expected number of sentences beside the solution's own."""
    openers, checks, answers = (ZH_OPENERS, ZH_CHECKS, ZH_ANSWERS) if exercise.chinese else (OPENERS, CHECKS, ANSWERS)
    gap = "" if exercise.chinese else " "
    spans = [Span(THINK, "format")] if thinks else []
    if dice.random() < 0.7:
        spans.append(Span(one(openers, dice) + gap))
    for paraphrases in exercise.steps:
        text = one(paraphrases, dice).replace("{slip}", answer)
        role = "tool" if text.startswith("<tool_response>") else "thought"
        spans.append(Span(text + ("" if text.endswith("\n") else gap), role))
    extra = min(int(dice.poisson(max(0.0, verbosity))), 40)
    chosen = [str(check) for check in dice.permutation(checks)[:extra]]
    chosen += [one(checks, dice) for _ in range(extra - len(chosen))]
    spans += [Span(check + gap) for check in chosen]
    spans[-1].text = spans[-1].text.rstrip(" ")
    spans.append(Span("\n" + THOUGHT if thinks else "\n", "format"))
    spans.append(Span(one(answers, dice).format(answer), "answer"))
    spans.append(Span(END, "end"))
    return spans


def salad(spans: list[Span], chinese: bool, dice: np.random.Generator) -> list[Span]:
    """The same response with as many words drawn at random in the place of its thoughts, common ones more often."""
    for span in spans:
        if span.role == "thought" and span.text != END:
            pieces = [piece for piece in tokens_of(span.text) if piece.strip()]
            drawn = (len(WORDS) * dice.random(len(pieces)) ** 2.2).astype(np.int64).tolist()
            span.text = "".join(ZH_WORDS[at % len(ZH_WORDS)] if chinese else f" {WORDS[at]}" for at in drawn)
    return spans


def before_answer(spans: list[Span]) -> int:
    """Where the part before the answer ends: where a piece can be put in."""
    return next((at for at, span in enumerate(spans) if span.role in ("format", "answer") and at > 0), len(spans))
