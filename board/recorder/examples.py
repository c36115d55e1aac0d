"""A few of a step's rollouts as a tracker shows them: the best, the worst, and others at random. Holds no more than these.

Knows rows as they are written; knows nothing of trackers or files.
"""

import math
import random
from collections.abc import Mapping
from typing import Any, Final

from board.recorder.encoding import encode
from board.recorder.token_arrays import number
from board.schema import TOKENS
from board.trackers.contract import Example

TEXT_CHARS: Final = 2_000
"""Characters of a prompt or a response that are shown at most: its beginning and its end."""


class StepExamples:
    """At most `count` rollouts of one step: of two the best and the worst, any further ones drawn from all by `seed`."""

    def __init__(self, count: int, seed: str) -> None:
        self._count = count
        self._random = random.Random(seed)
        self._best: tuple[float, Example] | None = None
        self._worst: tuple[float, Example] | None = None
        self._drawn: list[Example] = []
        self._seen = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Look at one more rollout, and keep it where it belongs."""
        if self._count < 1:
            return
        shown, reward = _shown(row), number(row.get("reward"))
        if math.isfinite(reward):
            if self._best is None or reward > self._best[0]:
                self._best = (reward, shown)
            if self._worst is None or reward < self._worst[0]:
                self._worst = (reward, shown)
        self._draw(shown)

    def rows(self) -> list[Example]:
        """Each rollout once, and why it is shown."""
        ends = [(which, end[1]) for which, end in (("best", self._best), ("worst", self._worst)) if end is not None]
        kept: dict[int, tuple[str, Example]] = {}
        for which, row in (*ends, *(("random", row) for row in self._drawn)):
            kept.setdefault(id(row), (which, row))
        rows: list[Example] = [{"which": which, **row} for which, row in kept.values()]
        return rows[: self._count]

    def _draw(self, shown: Example) -> None:
        """Keep each rollout seen so far with equal chance (Waterman's algorithm R, in Knuth's Art of Computer Programming, 3.4.2)."""
        self._seen += 1
        if len(self._drawn) < self._count:
            self._drawn.append(shown)
        elif (at := self._random.randrange(self._seen)) < self._count:
            self._drawn[at] = shown


def cut(text: str) -> str:
    """A text whole, or its beginning and its end with what is left out between them said."""
    left_out = len(text) - TEXT_CHARS
    if left_out <= 0:
        return text
    half = TEXT_CHARS // 2
    return f"{text[:half]}\n[{left_out:,} characters left out]\n{text[-half:]}"


def _shown(row: Mapping[str, Any]) -> Example:
    reward, tokens, response = number(row.get("reward")), row.get(TOKENS), row.get("response")
    if response is None and isinstance(tokens, list):
        response = "".join(map(str, tokens))
    numbers = {"reward": reward} if math.isfinite(reward) else {}
    return {**numbers, "prompt": cut(_text(row.get("prompt"))), "response": cut(_text(response))}


def _text(value: object) -> str:
    """A text as it is, anything else (a list of messages) as JSON; empty where there is none."""
    if value is None or isinstance(value, str):
        return value or ""
    return encode(value).decode()
