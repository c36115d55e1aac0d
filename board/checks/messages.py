"""A diagnosis as the terminal shows it, and as JSON for scripts. Knows no check."""

import json
from typing import Any, Final

from board.checks import VERSION
from board.checks.contract import SEVERITIES, Diagnosis, Finding, Severity
from board.text.counting import plural
from board.text.terminal import on_one_line, printable

_NOUNS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "note": "note"}


def summary(diagnosis: Diagnosis) -> str:
    """One line: how many findings of which severity, in how many rollouts."""
    counts = [plural(diagnosis.count(severity), _NOUNS[severity]) for severity in SEVERITIES]
    return f"{', '.join(counts)} in {plural(diagnosis.rollouts, 'rollout')}"


def places(finding: Finding) -> str:
    """The first places of a finding, and how many more there are; empty when it has none."""
    named = ", ".join(place.source for place in finding.where)
    more = finding.places - len(finding.where)
    return f"{named} and {more:,} more" if more else named


def amount(finding: Finding) -> str:
    """What was found, and that there may be more of it."""
    return f"{finding.what} (at least: not all of it was looked at)" if finding.at_least else finding.what


def as_text(diagnosis: Diagnosis) -> str:
    """Findings as paragraphs, worst first; then the checks that passed, those that could not tell, and the summary."""
    blocks = [_paragraph(finding) for finding in diagnosis.findings]
    if diagnosis.passed:
        blocks.append(f"Passed: {', '.join(check.name for check in diagnosis.passed)}")
    if diagnosis.unable:
        blocks.append("\n".join(["Could not tell:", *(f"  {check.name}: {reason}" for check, reason in diagnosis.unable)]))
    return printable("\n\n".join([*blocks, summary(diagnosis)]))


def _paragraph(finding: Finding) -> str:
    check = finding.check
    lines = [f"{check.severity}: {check.title} ({check.name})", f"  what   {on_one_line(amount(finding))}"]
    if finding.where:
        lines.append(f"  where  {on_one_line(places(finding))}")
    return "\n".join([*lines, f"  why    {check.why}", f"  do     {check.remedy}"])


def as_json(diagnosis: Diagnosis, run: str) -> str:
    """The diagnosis for scripts: an object with version, run, rollouts, counts, findings, passed and unable, as the README has it."""
    shape: dict[str, Any] = {
        "version": VERSION,
        "run": run,
        "rollouts": diagnosis.rollouts,
        "counts": {severity: diagnosis.count(severity) for severity in SEVERITIES},
        "findings": [_fields(finding) for finding in diagnosis.findings],
        "passed": [check.name for check in diagnosis.passed],
        "unable": [{"check": check.name, "reason": reason} for check, reason in diagnosis.unable],
    }
    return json.dumps(shape, indent=2)  # in ASCII: whatever bytes a file is named with, a pipe and a terminal bear it


def _fields(finding: Finding) -> dict[str, Any]:
    check = finding.check
    return {
        "check": check.name,
        "severity": check.severity,
        "title": check.title,
        "what": finding.what,
        "rollouts": finding.rollouts,
        "tokens": finding.tokens,
        "at_least": finding.at_least,
        "places": finding.places,
        "where": [place.source for place in finding.where],
        "why": check.why,
        "remedy": check.remedy,
    }
