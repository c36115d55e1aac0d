"""How well a findings document fits the truth about its run. Knows the JSON of the command and nothing of how it came about."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any, Final

from benchmarks.findings.writing import Truth

FIRST: Final = 3
"""So many findings a reader is expected to look at."""
FALSE: Final = ("error", "warning")
"""Severities that accuse a clean run."""


@dataclass(frozen=True)
class Said:
    """One finding, in short."""

    kind: str
    severity: str
    first_step: int
    signs: tuple[str, ...]
    title: str = ""
    effect: str = ""


@dataclass(frozen=True)
class Score:
    """One run."""

    kind: str
    seed: int
    strength: str
    shape: str
    place: int | None
    """From 1: of the first finding that is of the kind."""
    sign_place: int | None
    """From 1: of the first finding that is of the kind or has it among its signs."""
    precision: float | None
    """Share of that finding's rollouts that show what was planted; None where it names none or there is no such finding."""
    token_precision: float | None
    onset_error: float | None
    """Of that finding's first step, in logged steps, absolute."""
    said: tuple[Said, ...]
    """All findings, in rank order."""
    seconds: float = 0.0
    failure: str = ""
    """Why there is no document."""

    @property
    def found(self) -> bool:
        """The kind itself is among the first findings."""
        return self.place is not None and self.place <= FIRST

    @property
    def found_or_sign(self) -> bool:
        """The kind, or one that has it among its signs, is among the first findings."""
        return self.sign_place is not None and self.sign_place <= FIRST

    @property
    def accusations(self) -> int:
        """Warnings and errors."""
        return sum(one.severity in FALSE for one in self.said)


def score(
    document: dict[str, Any], truth: Truth, seed: int = 0, strength: str = "", shape: str = "", seconds: float = 0.0
) -> Score:
    """How a document fits the truth. Raises KeyError for one that lacks a field."""
    findings: list[dict[str, Any]] = document["findings"]
    place = _place(truth.kind == one["kind"] for one in findings)
    sign_place = _place(truth.kind in (one["kind"], *one["signs"]) for one in findings)
    own = findings[sign_place - 1] if sign_place else None
    rollouts = [(one["shard"], one["line"]) for one in own["rollouts"]] if own else []
    tokens = [(one["shard"], one["line"], one["position"]) for one in own["tokens"]] if own and truth.tokens else []
    return Score(
        kind=truth.kind,
        seed=seed,
        strength=strength,
        shape=shape,
        place=place,
        sign_place=sign_place,
        precision=_share(rollouts, truth.rollouts),
        token_precision=_share(tokens, truth.tokens),
        onset_error=abs(own["first_step"] - truth.onset) / truth.stride if own else None,
        said=tuple(_said(one) for one in findings),
        seconds=seconds,
    )


def _said(finding: dict[str, Any]) -> Said:
    named = {name: str(finding.get(name, "")) for name in ("title", "effect")}
    return Said(finding["kind"], finding["severity"], finding["first_step"], tuple(finding["signs"]), **named)


def _place(matches: Iterable[bool]) -> int | None:
    return next((at for at, match in enumerate(matches, 1) if match), None)


def _share(named: Sequence[Any], true: frozenset[Any]) -> float | None:
    return sum(one in true for one in named) / len(named) if named else None


@dataclass(frozen=True)
class Summary:
    """The runs of one kind."""

    kind: str
    runs: int
    found: float
    """Share of runs."""
    found_or_sign: float
    precision: float | None
    """Mean over runs that have one."""
    token_precision: float | None
    onset_error: float | None
    """Median."""
    accusations: float
    """Mean number of warnings and errors."""
    failures: int


def summarised(scores: Sequence[Score]) -> list[Summary]:
    """One line for each kind, in the order in which they first come."""
    kinds = list(dict.fromkeys(one.kind for one in scores))
    return [_summary(kind, [one for one in scores if one.kind == kind]) for kind in kinds]


def _summary(kind: str, scores: Sequence[Score]) -> Summary:
    precisions = [one.precision for one in scores if one.precision is not None]
    tokens = [one.token_precision for one in scores if one.token_precision is not None]
    errors = [one.onset_error for one in scores if one.onset_error is not None]
    return Summary(
        kind=kind,
        runs=len(scores),
        found=mean(one.found for one in scores),
        found_or_sign=mean(one.found_or_sign for one in scores),
        precision=mean(precisions) if precisions else None,
        token_precision=mean(tokens) if tokens else None,
        onset_error=median(errors) if errors else None,
        accusations=mean(one.accusations for one in scores),
        failures=sum(bool(one.failure) for one in scores),
    )


def as_json(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Scores as they are written."""
    return [asdict(one) | {"found": one.found, "found_or_sign": one.found_or_sign} for one in scores]
