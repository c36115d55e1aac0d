"""The findings of a run while it is followed: looked for again and again in a process of its own, so that no step waits, each told once.

Knows neither trackers nor when their steps are complete.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from board.findings.background import LookOrder
from board.findings.contract import FindingsReport
from board.findings.watching import Watcher
from board.push.examples import Links
from board.push.told_findings import ToldFinding, findings_in
from board.runs.run import Run


class FollowedFindings:
    """What the looks at one growing run have found. Between two of them lies as long as `board.findings.watching` says.

    In a run that grows the first step of a finding moves a little from look to look. So a kind that was told is told again only where it
    begins after all steps that there were then.
    """

    def __init__(self, location: Path, reading: Mapping[str, Any], links: Links) -> None:
        """`reading` are the further arguments of `open_run` that the run is read with."""
        tokenizer, mapping = (str(reading.get(name) or "") for name in ("tokenizer", "mapping"))
        self._order = LookOrder(location, location, tuple(reading.get("extra_pads", ())), tokenizer, mapping)
        self._links = links
        self._watcher = Watcher()
        self._report: FindingsReport | None = None
        self._told: dict[str, int] = {}
        self.trouble = ""
        """Why the last look found nothing, in one line; the findings are looked for once more when following ends."""

    def news(self, run: Run) -> list[ToldFinding]:
        """What looks have found since the last call, in rank order; `run` as it is now. Returns at once."""
        state = self._watcher.see(run.address, self._order, run.fingerprint)
        self.trouble = state.trouble
        if state.report is None or state.report is self._report:
            return []
        self._report = state.report
        return self.fresh(findings_in(state.report, self._links), run)

    def fresh(self, found: list[ToldFinding], run: Run) -> list[ToldFinding]:
        """Those of some findings that begin after all that was told of their kind; they count as told from now on."""
        new = [one for one in found if one.step > self._told.get(one.kind, one.step - 1)]
        last = max(run.steps.tolist(), default=0)
        self._told |= {one.kind: max(last, one.step) for one in new}
        return new
