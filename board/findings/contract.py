"""What a kind of finding is, what it may answer, and what a finding is made of."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from board.analysis.texts.text_health.stretches import Where
from board.findings.checks.contract import EvidencePlace, Severity
from board.findings.context import Context
from board.text.counting import of_steps

MOST_SHOWN: Final = 50
"""So many rollouts, and so many tokens, show a finding."""

Page = Literal["rewards", "metrics", "responses", "tokens", "groups", "prompts", "steps", "search", "words", "all_tokens", "data"]
"""Where to look next."""


@dataclass(frozen=True)
class Threshold:
    """A number from which on a kind speaks, which a reader may set otherwise."""

    name: str
    value: float
    meaning: str
    """What is compared with it, and its unit: "growth of the mean response length, 0.25 is 25 %"."""
    source: str
    """Who says so: a paper, a trainer's default, or "our judgement" with the reason."""


Limits = Mapping[str, float]
"""A kind's thresholds by name, as the reader has set them."""
SetLimits = Mapping[str, Limits]
"""Thresholds that a reader has set, by kind and name."""


@dataclass(frozen=True)
class Found:
    """A kind's answer when something is there."""

    effect: str
    """In plain words with numbers, one sentence without its full stop: "from step 18 the response length rises by 92 %"."""
    first_step: int
    last_step: int
    crossed: str
    """The name of the threshold that was crossed."""
    measured: float
    """What was compared with it."""
    strength: float
    """How large the effect is against the run's own noise: standard errors, as `Turn.z`, or an equivalent."""
    rollouts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """Keys of the rollouts that show it, the clearest first; at most MOST_SHOWN."""
    tokens: Sequence[tuple[int, int]] = ()
    """(rollout key, position from 0) of tokens that show it, the clearest first."""
    where: Where | None = None
    """Finds in a text of each of these rollouts what shows it, and its tokens where there are no `tokens`."""
    severity: Severity | None = None
    """Where it is another than the kind's."""
    title: str = ""
    """Where it says more than the kind's."""
    explains: tuple[str, ...] | None = None
    """Where it explains other kinds than its kind usually does."""
    at_steps: tuple[int, ...] = ()
    """All steps that it is about, where it is not about those between them."""

    @classmethod
    def since(
        cls,
        context: Context,
        at: int,
        effect: str,
        crossed: str,
        measured: float,
        strength: float,
        rollouts: NDArray[np.int64],
        **more: Any,
    ) -> "Found":
        """What is there from the step with that index on, to the end of the run."""
        numbers = context.steps.numbers
        return cls(effect, int(numbers[at]), int(numbers[-1]), crossed, measured, strength, rollouts, **more)


@dataclass(frozen=True)
class CannotTell:
    """A kind's answer when it is inconclusive, which is not the same as having found nothing."""

    reason: str
    """One sentence without its full stop."""


Answer = Found | Sequence[Found] | CannotTell | None
"""None, or nothing in the sequence: looked for and not there."""


@dataclass(frozen=True)
class Kind:
    """One kind of finding."""

    name: str
    """As JSON, settings and links call it."""
    title: str
    """As the screen calls it."""
    severity: Severity
    """`error`: numbers are wrong; `warning`: training is probably harmed; `note`: worth knowing."""
    says: str
    """What it says, in one sentence."""
    formula: str
    """How it is computed, in words and signs."""
    thresholds: tuple[Threshold, ...]
    means: str
    """What it may mean."""
    looks_like: str
    """What else would look the same."""
    next: tuple[tuple[Page, str], ...]
    """Where to look next, and what for."""
    run: Callable[[Context, Limits], Answer]
    needs: tuple[str, ...] = ()
    """Columns, texts and token arrays (`Context.has`) without which it cannot tell."""
    explains: tuple[str, ...] = ()
    """Kinds and checks that turn with it as its signs, where it is the cause."""
    metrics: tuple[str, ...] = ()
    """Keys of the catalogue's metrics, or names of numeric columns, on whose curves it is marked."""
    judges_end: bool = False
    """Whether it judges by where the run ends: it runs, too, on the run as it was just before an anomaly began to recover."""
    general: bool = False
    """Whether it says that a number moves and not by what: any other kind that begins with it says more, but those that it explains."""

    @property
    def limits(self) -> dict[str, float]:
        """The thresholds as they are unless a reader sets them."""
        return {one.name: one.value for one in self.thresholds}


ENTRIES: Final[dict[str, dict[str, Any]]] = tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))
"""By the kind's name, in the order in which they are listed."""


def declared(name: str, run: Callable[[Context, Limits], Answer]) -> Kind:
    """The kind of that name, which `run` looks for. Raises KeyError or TypeError where the table lacks it, or says what no kind has."""
    entry: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in ENTRIES[name].items()}
    entry["thresholds"] = tuple(Threshold(*one) for one in entry["thresholds"])
    entry["next"] = tuple(map(tuple, entry["next"]))
    trained = entry.pop("of_training", False)

    def look(context: Context, limits: Limits) -> Answer:
        if trained and not context.is_training:
            return CannotTell("these are evaluations, on which nothing is trained")
        return run(context, limits)

    return Kind(name=name, run=look, **entry)


@dataclass(frozen=True)
class TokenPlace:
    """A token that shows a finding."""

    rollout: EvidencePlace
    position: int
    """From 0."""


@dataclass(frozen=True)
class Finding:
    """Something that went wrong, as it is shown: a kind's answer with its places, and what turned with it."""

    kind: str
    severity: Severity
    title: str
    effect: str
    first_step: int
    last_step: int
    measured: float
    threshold: str
    """The threshold that was crossed, with its meaning."""
    source: str
    """Of that threshold."""
    strength: float
    rollouts: tuple[EvidencePlace, ...]
    tokens: tuple[TokenPlace, ...]
    means: str
    looks_like: str
    next: tuple[tuple[Page, str], ...]
    metrics: tuple[str, ...] = ()
    signs: tuple["Finding", ...] = ()
    """Findings of the same cause."""
    at_steps: tuple[int, ...] = ()
    """All steps that it is about, where it is not about those between them."""

    @property
    def id(self) -> str:
        """Names it among the findings of its run: it stays while the run grows, as long as its first step does."""
        return f"{self.kind}@{self.first_step}"

    @property
    def steps(self) -> str:
        """Which it spans, in words."""
        return of_steps(self.first_step, self.last_step)

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """Of it and of its signs."""
        return tuple(dict.fromkeys([*self.metrics, *(name for sign in self.signs for name in sign.metrics)]))


@dataclass(frozen=True)
class FindingsReport:
    """What was found in a run."""

    findings: tuple[Finding, ...]
    """In rank order."""
    looked_for: tuple[str, ...]
    """Kinds that could tell."""
    unable: tuple[tuple[str, str], ...]
    """Kinds that could not, and why."""
