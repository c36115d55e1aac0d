"""What a check is, what it may answer, and what running them gives."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from board.analysis.texts.text_health.stretches import TextStretch
from board.errors import BoardError
from board.findings.checks.evidence import Evidence
from board.text.counting import plural

Severity = Literal["error", "warning", "note"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""Worst first. `error`: the numbers are wrong; `warning`: probably; `note`: worth knowing when reading them."""


def reached(least: Severity, found: Iterable[Severity]) -> bool:
    """Whether any is as bad as the least, or worse."""
    return any(SEVERITIES.index(one) <= SEVERITIES.index(least) for one in found)


@dataclass(frozen=True)
class Fault:
    """A check's answer when something is there."""

    what: str
    """One sentence without its full stop, with the numbers it rests on."""
    keys: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """The rollouts concerned, in the order of the frame."""
    places: tuple[str, ...] = ()
    """Where it is when no rollout shows it: `shard:line` or shard."""
    tokens: int | None = None
    """Tokens concerned; None where the check is not about tokens."""
    at_least: bool = False
    """Whether there may be more: loading keeps the first thousand problems of a kind."""


def shown_by(evidence: Evidence, marks: NDArray[np.bool_], what: str, **more: Any) -> Fault | None:
    """What the marked rollouts show, (rollouts,), which `what` calls {rollouts}; None where none is marked."""
    count = plural(int(marks.sum()), "rollout")
    return Fault(what.replace("{rollouts}", count), evidence.keys(marks), **more) if marks.any() else None


@dataclass(frozen=True)
class Unable:
    """A check's answer when it is inconclusive, which is not the same as having found nothing."""

    reason: str
    """One sentence without its full stop."""


def failed(error: Exception) -> str:
    """What is said of a check or a kind that failed at what the rows hold. Raises the error where it is no fault of theirs.

    A file that cannot be read and memory that runs out concern all checks and kinds that are still to run.
    """
    if isinstance(error, (BoardError, OSError, MemoryError)):
        raise error
    return f"it failed at what the rows hold: {type(error).__name__}: {error}"[:300]


Answer = Fault | tuple[Fault, ...] | Unable | None
"""None, or nothing in the tuple: nothing is wrong."""


@dataclass(frozen=True)
class Check:
    """One entry of the table of checks."""

    name: str
    """As `--json` and scripts call it."""
    title: str
    """As the screen calls what is wrong."""
    severity: Severity
    why: str
    """Why it matters."""
    remedy: str
    """What to do."""
    run: Callable[[Evidence], Answer]
    explains: tuple[str, ...] = ()
    """Kinds of findings that turn with it as its signs."""
    needs: tuple[str, ...] = ()
    """Fields that some rollout must have; without them the check cannot tell."""
    of_steps: bool = False
    """Whether steps that show it are of other rollouts than they should be: their numbers are."""
    of_whole: bool = False
    """Whether it cannot tell before the whole run is read: what is missing may still come."""


@dataclass(frozen=True)
class EvidencePlace:
    """Where a finding shows: a rollout, which a link can lead to, or only a line or a shard."""

    source: str
    """`shard:line`, `shard:line.2` for the second rollout of a record, or a shard."""
    step: int | None = None
    """Of the rollout; None when the place is none."""
    stretch: TextStretch | None = None
    """What of its texts shows it."""


@dataclass(frozen=True)
class ReportedFault:
    """What a check found, as it is shown."""

    check: Check
    what: str
    rollouts: int | None
    """Rollouts concerned; None where it is lines or files."""
    tokens: int | None
    at_least: bool
    where: tuple[EvidencePlace, ...]
    """The first few."""
    places: int
    """How many there are in all."""
    at_steps: tuple[int, ...] = ()
    """The steps of all of them, rising; none where no rollout shows it."""


@dataclass(frozen=True)
class CheckReport:
    """What the checks of a run found."""

    rollouts: int
    findings: tuple[ReportedFault, ...]
    """Worst first, then in the order of the table."""
    passed: tuple[Check, ...]
    unable: tuple[tuple[Check, str], ...]
    """Checks that could not tell, and why."""

    def count(self, severity: Severity) -> int:
        """Findings of that severity."""
        return sum(finding.check.severity == severity for finding in self.findings)
