"""One rollout while a run is made up, and the row that is written of it."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.findings.exercises import Exercise
from benchmarks.findings.responses import END, Span, tokens_of

Numbers = NDArray[np.float64]
DIGITS: Final = 6
"""Decimals that are written."""


@dataclass
class Sampled:
    """A rollout: first its spans, then its tokens and rewards, then its arrays."""

    step: int
    """Index of the step, from 0; what is written is this times the run's stride."""
    nth: int
    """Its place within the step."""
    rank: int
    group: int
    """Its prompt's place within the step."""
    exercise: Exercise
    prompt: str
    chance: float
    """Of being right, before it was written."""
    spans: list[Span]
    answer: str
    """What the text arrives at."""
    limit: int
    name: str = ""
    """Of the group, which stays when rollouts are shuffled."""
    tokens: list[str] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    """Of each token, as its span's."""
    cut: bool = False
    correct: bool = False
    formatted: bool = True
    reward: float = 0.0
    valid: float = 0.0
    arrays: dict[str, Numbers] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    """Further fields of the row."""
    touched: bool = False
    """Whether something was planted into it."""
    touched_tokens: set[int] = field(default_factory=set)

    def settle(self) -> None:
        """Tokens out of spans, cut at the limit; an answer that was cut off is none."""
        self.tokens, self.roles = [], []
        for span in self.spans:
            own = [END] if span.role == "end" else tokens_of(span.text)
            self.tokens += own
            self.roles += [span.role] * len(own)
        self.cut = len(self.tokens) > self.limit
        del self.tokens[self.limit :], self.roles[self.limit :]
        self.formatted = self.formatted and not self.cut
        self.correct = not self.cut and self.answer == self.exercise.answer and "answer" in self.roles

    def positions(self, *roles: str) -> NDArray[np.int64]:
        """Where the tokens of these roles are."""
        return np.flatnonzero([role in roles for role in self.roles])

    @property
    def trained(self) -> NDArray[np.bool_]:
        """Tokens that enter the loss. Shape (tokens,)."""
        mask = self.arrays.get("loss_mask")
        return np.ones(len(self.tokens), np.bool_) if mask is None else mask > 0

    def row(self, stride: int) -> dict[str, Any]:
        """As a trainer writes it."""
        written = self.tokens[:-1] if self.tokens and self.tokens[-1] == END else self.tokens
        return {
            "step": self.step * stride,
            "rank": self.rank,
            "sample_id": f"{self.step}-{self.nth}",
            "group_id": self.name,
            "prompt_id": self.exercise.name,
            "data_source": self.exercise.source,
            "prompt": self.prompt,
            "response": "".join(written),
            "response_tokens": self.tokens,
            "ground_truth": self.exercise.answer,
            "reward": round(float(self.reward), DIGITS),
            "valid_reward": round(float(self.valid), DIGITS),
            "finish_reason": "length" if self.cut else "stop",
            **self.extra,
            **{name: np.round(values, DIGITS).tolist() for name, values in self.arrays.items()},
        }
