"""Findings of one cause are one event: what a kind explains, and turned when it did, becomes its sign. Findings in, fewer findings out.

Knows no kind by name: which explains which is declared with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from board.checks.contract import SEVERITIES
from board.findings.contract import Finding

NEAR: Final = 0.1
"""Share of a run's steps within which two findings begin together."""
LEAST_NEAR: Final = 3
"""Steps (of those there are) within which they do in any case: what turns slowly is dated no better."""

Explains = Mapping[str, Sequence[str]]
"""By the name of a kind those of the kinds it explains; by the id of a finding where it explains others."""


def merged(findings: Sequence[Finding], explains: Explains, steps: Sequence[int]) -> list[Finding]:
    """Each finding that is the cause of its event, with the others as its signs, and those that stand alone. `steps` are the run's, rising.

    A cause is never later than LEAST_NEAR steps, or NEAR of the run, after its sign; of two that explain one the nearest has it.
    """
    numbers = np.asarray(steps, np.int64)
    near = max(LEAST_NEAR, round(NEAR * len(numbers)))
    place = {finding.id: int(np.searchsorted(numbers, finding.first_step)) for finding in findings}
    causes: dict[str, str] = {}
    for finding in findings:
        able = [
            (abs(place[other.id] - place[finding.id]), SEVERITIES.index(other.severity), other.id)
            for other in findings
            if finding.kind in explains.get(other.id, explains.get(other.kind, ()))
            and place[other.id] - place[finding.id] <= near
            and other.first_step <= finding.last_step
            and finding.first_step <= other.last_step + _reach(numbers, near)
        ]
        if able:
            causes[finding.id] = min(able)[2]
    return [_with_signs(finding, findings, causes) for finding in findings if _root(finding.id, causes) == finding.id]


def _reach(numbers: np.ndarray, near: int) -> int:
    """How far behind an event's end something may still begin by it, as a difference of step numbers."""
    return int(np.median(np.diff(numbers)) * near) if len(numbers) > 1 else 0


def _root(name: str, causes: Mapping[str, str]) -> str:
    """The cause of causes; of a circle the first by name."""
    seen = [name]
    while causes.get(seen[-1]):
        if causes[seen[-1]] in seen:
            return min(seen[seen.index(causes[seen[-1]]) :])
        seen.append(causes[seen[-1]])
    return seen[-1]


def _with_signs(cause: Finding, findings: Sequence[Finding], causes: Mapping[str, str]) -> Finding:
    signs = tuple(one for one in findings if one.id != cause.id and _root(one.id, causes) == cause.id)
    worst = min((one.severity for one in (cause, *signs)), key=SEVERITIES.index)
    return replace(cause, signs=signs, severity=worst) if signs else cause
