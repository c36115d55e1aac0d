"""The findings of a run as a tracker is told of them: which are new to it, at which step each stands, in which words.

Knows links to the board; knows no tracker. What a finding says may quote the run: whoever shows it shows text.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from board.findings.contract import Finding
from board.push.examples import Links
from board.trackers.contract import Example


def text(finding: Finding) -> str:
    """How bad, what, and the effect, on one line."""
    signs = f" (with {', '.join(sign.kind for sign in finding.signs)})" if finding.signs else ""
    return f"{finding.severity}: {finding.title}: {finding.effect}{signs}"


def row(finding: Finding, links: Links) -> Example:
    """As a table of the tracker has it."""
    link = links.to("findings", step=finding.first_step, finding=finding.id)
    return {"finding": text(finding), "kind": finding.kind, "step": finding.first_step, **link}


def untold(found: Sequence[Finding], told: Mapping[str, int]) -> list[Finding]:
    """Those of a kind that was not `told`, or that begin after the last step that there was when it was; notes are for the board alone.

    In a run that grows the first step of a finding moves a little from look to look: that is no other finding.
    """
    return [one for one in found if one.severity != "note" and (one.kind not in told or one.first_step > told[one.kind])]


def at_steps(found: Sequence[Finding], steps: NDArray[np.int64]) -> dict[int, list[Finding]]:
    """Each at its step where that is among `steps`, else at the last of them."""
    placed: dict[int, list[Finding]] = {}
    for one in found:
        placed.setdefault(one.first_step if one.first_step in steps else int(steps[-1]), []).append(one)
    return placed
