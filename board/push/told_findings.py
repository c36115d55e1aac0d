"""The findings of a run as a tracker is told of them: which there are, at which step each is told, which were told before. Rows of text out.

While a run is followed they are looked for again and again in a process of its own, so that no step waits. Knows links to the board; knows no
tracker. What a finding says may quote the run: whoever shows it shows text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board.checks.contract import Severity
from board.findings.contract import Finding, FindingsReport
from board.findings.looking import find_all
from board.findings.watching import LookOrder, Watcher
from board.push.examples import Links
from board.runs.run import Run
from board.trackers.contract import Example


@dataclass(frozen=True)
class ToldFinding:
    """One finding."""

    kind: str
    step: int
    """Its first."""
    severity: Severity
    title: str
    text: str
    """How bad, what, and the effect, on one line."""
    row: Example
    """As a table of the tracker has it."""


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
    return ToldFinding(finding.kind, finding.first_step, finding.severity, finding.title, text, {**row, **link})


def untold(found: Sequence[ToldFinding], told: Mapping[str, int]) -> list[ToldFinding]:
    """Those of a kind that was not `told`, or that begin after the last step that there was when it was.

    In a run that grows the first step of a finding moves a little from look to look: that is no other finding.
    """
    return [one for one in found if one.kind not in told or one.step > told[one.kind]]


def at_steps(found: Sequence[ToldFinding], steps: NDArray[np.int64]) -> dict[int, list[ToldFinding]]:
    """Each at its step where that is among `steps`, else at the last of them."""
    placed: dict[int, list[ToldFinding]] = {}
    for one in found:
        placed.setdefault(one.step if one.step in steps else int(steps[-1]), []).append(one)
    return placed


class FollowedFindings:
    """What the looks at one growing run have found. Between two of them lies as long as `board.findings.watching` says."""

    def __init__(self, location: Path, reading: Mapping[str, Any], links: Links) -> None:
        """`reading` are the further arguments of `open_run` that the run is read with."""
        tokenizer, mapping = (str(reading.get(name) or "") for name in ("tokenizer", "mapping"))
        self._order = LookOrder(location, location, tuple(reading.get("extra_pads", ())), tokenizer, mapping)
        self._links = links
        self._watcher = Watcher()
        self._report: FindingsReport | None = None
        self.trouble = ""
        """Why the last look found nothing, in one line; the findings are looked for once more when following ends."""

    def news(self, run: Run) -> list[ToldFinding]:
        """What a look has found that ended since the last call, in rank order; `run` as it is now. Returns at once."""
        state = self._watcher.see(run.address, self._order, run.fingerprint)
        self.trouble = state.trouble
        if state.report is None or state.report is self._report:
            return []
        self._report = state.report
        return findings_in(state.report, self._links)
