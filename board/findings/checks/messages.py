"""What checks found as the terminal shows it, and as JSON for scripts."""

import json
from typing import Any

from board.findings.checks import VERSION
from board.findings.checks.contract import SEVERITIES, CheckReport, ReportedFault
from board.text.counting import listed, plural
from board.text.terminal import on_one_line, printable


def summary(checked: CheckReport) -> str:
    """One line: how many findings of which severity, in how many rollouts."""
    counts = [plural(checked.count(severity), severity) for severity in SEVERITIES]
    return f"{', '.join(counts)} in {plural(checked.rollouts, 'rollout')}"


def places(finding: ReportedFault) -> str:
    """The first places of a finding, and how many more there are; empty when it has none."""
    return listed((place.source for place in finding.where), len(finding.where), finding.places)


def amount(finding: ReportedFault) -> str:
    """What was found, and that there may be more of it."""
    return f"{finding.what} (at least: not all of it was looked at)" if finding.at_least else finding.what


def as_text(checked: CheckReport) -> str:
    """Findings as paragraphs, worst first; then the checks that passed, the inconclusive ones, and the summary."""
    blocks = [_paragraph(finding) for finding in checked.findings]
    if checked.passed:
        blocks.append(f"Passed: {', '.join(check.name for check in checked.passed)}")
    if checked.unable:
        blocks.append("\n".join(["Could not tell:", *(f"  {check.name}: {reason}" for check, reason in checked.unable)]))
    return printable("\n\n".join([*blocks, summary(checked)]))


def _paragraph(finding: ReportedFault) -> str:
    check = finding.check
    lines = [f"{check.severity}: {check.title} ({check.name})", f"  what   {on_one_line(amount(finding))}"]
    if finding.where:
        lines.append(f"  where  {on_one_line(places(finding))}")
    return "\n".join([*lines, f"  why    {check.why}", f"  do     {check.remedy}"])


def as_json(checked: CheckReport, run: str) -> str:
    """What checks found, for scripts: an object with version, run, rollouts, counts, findings, passed and unable, as docs/cli.md has it."""
    shape: dict[str, Any] = {
        "version": VERSION,
        "run": run,
        "rollouts": checked.rollouts,
        "counts": {severity: checked.count(severity) for severity in SEVERITIES},
        "findings": [_fields(finding) for finding in checked.findings],
        "passed": [check.name for check in checked.passed],
        "unable": [{"check": check.name, "reason": reason} for check, reason in checked.unable],
    }
    return json.dumps(shape, indent=2)  # in ASCII: whatever bytes a file is named with, a pipe and a terminal bear it


def _fields(finding: ReportedFault) -> dict[str, Any]:
    check = finding.check
    found = {name: getattr(finding, name) for name in ("what", "rollouts", "tokens", "at_least", "places")}
    said = {"check": check.name, "severity": check.severity, "title": check.title} | found
    return said | {"where": [place.source for place in finding.where], "why": check.why, "remedy": check.remedy}
