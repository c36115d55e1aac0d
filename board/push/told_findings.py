"""The findings of a run as a tracker is told of them: which there are, at which step each is told, which were told before. Rows of text out.

Knows links to the board; knows no tracker. What a finding says may quote the run: whoever shows it shows text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from board.checks.contract import Severity
from board.findings.contract import Finding, FindingsReport
from board.findings.looking import find_all
from board.findings.merging import LEAST_NEAR
from board.push.examples import Links
from board.runs.run import Run
from board.trackers.contract import Example


@dataclass(frozen=True)
class ToldFinding:
    """One finding."""

    name: str
    """Among those of its run, as `Finding.id`: it stays while the run grows, or its step moves a little."""
    step: int
    """Its first."""
    severity: Severity
    title: str
    text: str
    """How bad, what, and the effect, on one line."""
    row: Example
    """As a table of the tracker has it."""

    @property
    def kind(self) -> str:
        """What is found, as its name says it."""
        return self.name.rpartition("@")[0]


def findings_of(run: Run, links: Links) -> list[ToldFinding]:
    """What is found in the run, in rank order, with the declared thresholds; see `findings_in`."""
    return findings_in(find_all(run), links)


def findings_in(report: FindingsReport, links: Links) -> list[ToldFinding]:
    """The findings of a report as a tracker is told of them, in rank order; notes are for the board alone."""
    return [_told_finding(one, links) for one in report.findings if one.severity != "note"]


def _told_finding(finding: Finding, links: Links) -> ToldFinding:
    signs = f" (with {', '.join(sign.kind for sign in finding.signs)})" if finding.signs else ""
    text = f"{finding.severity}: {finding.title}: {finding.effect}{signs}"
    row: dict[str, str | int | float] = {"finding": text, "kind": finding.kind, "step": finding.first_step}
    link = links.to("findings", step=finding.first_step, finding=finding.id)
    return ToldFinding(finding.id, finding.first_step, finding.severity, finding.title, text, {**row, **link})


def unsaid(found: Sequence[ToldFinding], said: Iterable[str]) -> list[ToldFinding]:
    """Those that are not among the names that were told before: of one kind, beginning within LEAST_NEAR steps, is the same, told once."""
    before: dict[str, list[int]] = {}
    for name in said:
        kind, _, step = name.rpartition("@")
        if step.lstrip("-").isdigit():  # an older board noted texts
            before.setdefault(kind, []).append(int(step))
    return [one for one in found if not any(abs(one.step - step) <= LEAST_NEAR for step in before.get(one.kind, []))]


def at_steps(found: Sequence[ToldFinding], steps: NDArray[np.int64]) -> dict[int, list[ToldFinding]]:
    """Each at its step where that is among `steps`, else at the last of them."""
    placed: dict[int, list[ToldFinding]] = {}
    for one in found:
        placed.setdefault(one.step if one.step in steps else int(steps[-1]), []).append(one)
    return placed
