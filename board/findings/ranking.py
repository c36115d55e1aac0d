"""Which findings are of one cause, and which is the worse: what a kind explains, and turned when it did, becomes its sign."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from board.findings.checks.contract import SEVERITIES
from board.findings.contract import Finding


@dataclass(frozen=True)
class PutAside:
    """A finding that is not shown among the others."""

    finding: Finding
    why: Literal["muted", "understood"]
    reason: str
    """In the reader's words; may be empty."""


def parted(
    findings: Sequence[Finding], muted: Mapping[str, str], understood: Mapping[str, str]
) -> tuple[tuple[Finding, ...], tuple[PutAside, ...]]:
    """Those that are shown and those that are muted or understood, both in rank order.

    `muted` are kinds, `understood` names of findings (`Finding.id`), with reasons. An event goes by its cause: its signs go with it.
    """
    shown: list[Finding] = []
    hidden: list[PutAside] = []
    for finding in findings:
        if finding.id in understood:
            hidden.append(PutAside(finding, "understood", understood[finding.id]))
        elif finding.kind in muted:
            hidden.append(PutAside(finding, "muted", muted[finding.kind]))
        else:
            shown.append(finding)
    return tuple(shown), tuple(hidden)


NEAR: Final = 0.1
"""Share of a run's steps within which two findings begin together."""
LEAST_NEAR: Final = 3
"""Steps (of those there are) within which they do in any case: what turns slowly is dated no better."""

Explains = Mapping[str, Sequence[str]]
"""By the name of a kind those of the kinds it explains; by the id of a finding where it explains others."""


def merged(findings: Sequence[Finding], explains: Explains, steps: Sequence[int], moving: Container[str] = ()) -> list[Finding]:
    """Each finding that is the cause of its event, with the others as its signs, and those that stand alone. `steps` are the run's, rising.

    A cause is never later than LEAST_NEAR steps, or NEAR of the run, after its sign; of two that explain one the nearest has it. Of findings
    that explain each other, and that nothing else explains, the one that explains most is the cause, of equal ones the first by name. What is
    so from the first step on does not explain why a number, of a kind that is `moving`, leaves its level later, but at one of its own steps.
    """
    numbers = np.asarray(steps, np.int64)
    near = max(LEAST_NEAR, round(NEAR * len(numbers)))
    # by so much of step numbers something may begin behind an event's end
    reach = int(np.median(np.diff(numbers)) * near) if len(numbers) > 1 else 0
    place = {finding.id: int(np.searchsorted(numbers, finding.first_step)) for finding in findings}

    def is_explained(finding: Finding, other: Finding) -> bool:
        later = place[finding.id] > near and finding.first_step not in other.at_steps
        return (
            finding.kind in explains.get(other.id, explains.get(other.kind, ()))
            and place[other.id] - place[finding.id] <= near
            and not (finding.kind in moving and place[other.id] == 0 and later)
            and other.first_step <= finding.last_step
            and finding.first_step <= other.last_step + reach
        )

    explainers = {one.id: {other.id for other in findings if is_explained(one, other)} for one in findings}
    above, signs = _closure(explainers), Counter(other for some in explainers.values() for other in some)
    by_id = {finding.id: finding for finding in findings}
    # of a circle the one that explains most itself
    circles = ({one, *above[one]} for one in above if all(one in above[other] for other in above[one]))
    leaders = {min(circle, key=lambda one: (-signs[one], one)) for circle in circles}
    causes: dict[str, str] = {}
    for one in by_id.keys() - leaders:
        candidates = leaders & above[one]
        causes[one] = min(
            candidates, key=lambda cause: (abs(place[cause] - place[one]), SEVERITIES.index(by_id[cause].severity), cause)
        )
    return [_with_signs(finding, findings, causes) for finding in findings if finding.id in leaders]


def _closure(explainers: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Of each finding all that explain it, and all that explain those; of a circle each explains itself, too."""
    above = {name: set(direct) for name, direct in explainers.items()}
    for middle in above:
        for reached in above.values():
            if middle in reached:
                reached |= above[middle]
    return above


def _with_signs(cause: Finding, findings: Sequence[Finding], causes: Mapping[str, str]) -> Finding:
    signs = tuple(one for one in findings if causes.get(one.id) == cause.id)
    worst = min((one.severity for one in (cause, *signs)), key=SEVERITIES.index)
    return replace(cause, signs=signs, severity=worst) if signs else cause


_CERTAIN: Final = 50.0


def ranked(findings: Sequence[Finding]) -> list[Finding]:
    """By severity, then by strength against the run's noise (one beyond all doubt is no stronger than another), then by the first step."""
    return sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), -min(one.strength, _CERTAIN), one.first_step))
