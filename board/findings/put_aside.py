"""Findings that a reader muted or understood, apart from those that are to be shown. Findings in, findings out; keeps nothing itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

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
    """Those that are shown and those that are put aside, both in rank order.

    `muted` are kinds, `understood` names of findings (`Finding.id`), with reasons. An event goes by its cause: its signs go with it.
    """
    shown: list[Finding] = []
    aside: list[PutAside] = []
    for finding in findings:
        if finding.id in understood:
            aside.append(PutAside(finding, "understood", understood[finding.id]))
        elif finding.kind in muted:
            aside.append(PutAside(finding, "muted", muted[finding.kind]))
        else:
            shown.append(finding)
    return tuple(shown), tuple(aside)
