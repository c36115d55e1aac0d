"""Findings as the terminal shows them, as JSON for scripts and the board's own server, and as conditions of the filter."""

import json
from collections.abc import Mapping
from typing import Any

from board.analysis.texts.text_health.stretches import TextStretch
from board.findings import VERSION
from board.findings.checks.contract import SEVERITIES, EvidencePlace
from board.findings.contract import Finding, FindingsReport, TokenPlace
from board.runs.cache.rollout import parsed_source
from board.sql.identifiers import literal
from board.text.counting import listed, plural
from board.text.terminal import on_one_line, printable


def condition_of_rollouts(finding: Finding) -> str:
    """Holds for the rollouts that show the finding, and for others of the same lines; empty where no line does."""
    lines: dict[str, set[int]] = {}
    for place in (*finding.rollouts, *(token.rollout for token in finding.tokens)):
        named = parsed_source(place.source)
        if named is not None and named.line is not None:
            lines.setdefault(named.shard, set()).add(named.line)
    each = [f"shard = {literal(shard)} AND line IN ({', '.join(map(str, sorted(held)))})" for shard, held in lines.items()]
    return each[0] if len(each) == 1 else " OR ".join(f"({one})" for one in each)


def condition_of_steps(finding: Finding) -> str:
    """Holds for the rollouts of the steps that the finding spans, or is about."""
    between = f"step BETWEEN {finding.first_step} AND {finding.last_step}"
    return f"step IN ({', '.join(map(str, finding.at_steps))})" if finding.at_steps else between


_NAMED = 5
"""So many places of a finding are named in the terminal."""
_SAME = ("kind", "severity", "title", "first_step", "last_step", "effect", "measured", "threshold", "source", "strength")
"""What JSON has as a finding has it."""


def summary(report: FindingsReport) -> str:
    """One line: how many findings of which severity, and how many kinds were looked for."""
    counts = [plural(sum(one.severity == severity for one in report.findings), severity) for severity in SEVERITIES]
    return f"{', '.join(counts)}; {plural(len(report.looked_for), 'kind')} looked for, {len(report.unable)} could not tell"


def as_text(report: FindingsReport) -> str:
    """Findings as paragraphs in rank order, then the inconclusive kinds, and the summary."""
    blocks = [_paragraph(number, finding) for number, finding in enumerate(report.findings, 1)]
    if report.unable:
        blocks.append("\n".join(["Could not tell:", *(f"  {kind}: {reason}" for kind, reason in report.unable)]))
    return printable("\n\n".join([*blocks, summary(report)]))


def _paragraph(number: int, finding: Finding) -> str:
    lines = [
        f"{number}. {finding.severity}: {finding.title} ({finding.kind}), {finding.steps}",
        f"  effect     {on_one_line(finding.effect)}",
        f"  threshold  {on_one_line(finding.threshold)} [{on_one_line(finding.source)}]",
    ]
    lines += [f"  sign       {on_one_line(f'{sign.title} ({sign.kind}): {sign.effect}')}" for sign in finding.signs]
    named = [f"{one.source} {one.stretch}" if one.stretch else one.source for one in finding.rollouts]
    named = named or [f"{place.rollout.source} token {place.position}" for place in finding.tokens]
    if named:
        lines.append(f"  evidence   {on_one_line(listed(named, _NAMED))}")
    lines += [f"  may mean   {finding.means}", f"  or else    {finding.looks_like}"]
    return "\n".join([*lines, *(f"  next       {page}: {what}" for page, what in finding.next)])


def as_json(report: FindingsReport, run: str) -> str:
    """The report for scripts, as docs/findings.md has it, in ASCII: a pipe and a terminal bear whatever a file is named with."""
    return json.dumps(as_document(report, run), indent=2)


def as_document(report: FindingsReport, run: str) -> dict[str, Any]:
    """Findings as a JSON object."""
    return {
        "version": VERSION,
        "run": run,
        "findings": [fields(finding) for finding in report.findings],
        "looked_for": [*report.looked_for],
        "unable": [{"kind": kind, "reason": reason} for kind, reason in report.unable],
    }


def fields(finding: Finding) -> dict[str, Any]:
    """A finding as JSON has it; `signs` names what turned with it, `sign_findings` holds it."""
    return {name: getattr(finding, name) for name in _SAME} | {
        "signs": [sign.kind for sign in finding.signs],
        "rollouts": [{"step": place.step, **_line(place)} for place in finding.rollouts],
        "tokens": [{**_line(place.rollout), "step": place.rollout.step, "position": place.position} for place in finding.tokens],
        "means": finding.means,
        "looks_like": finding.looks_like,
        "next": [{"page": page, "what": what} for page, what in finding.next],
        "metrics": [*finding.metrics],
        **({"at_steps": [*finding.at_steps]} if finding.at_steps else {}),
        "sign_findings": [fields(sign) for sign in finding.signs],
    }


def _line(place: EvidencePlace) -> dict[str, Any]:
    """Where a rollout is written: lines count from 1; `source` is what links call it."""
    named = parsed_source(place.source)
    where = {"shard": named.shard if named else place.source, "line": named.line if named else None, "source": place.source}
    return where | ({"stretch": place.stretch._asdict()} if place.stretch else {})


def _place_from(place: Mapping[str, Any]) -> EvidencePlace:
    return EvidencePlace(place["source"], place["step"], TextStretch(**place["stretch"]) if "stretch" in place else None)


def report_from(written: Mapping[str, Any]) -> FindingsReport:
    """The report out of what `as_document` made. Raises KeyError or TypeError for anything else."""
    return FindingsReport(
        tuple(map(_finding_from, written["findings"])),
        tuple(written["looked_for"]),
        tuple((one["kind"], one["reason"]) for one in written["unable"]),
    )


def _finding_from(one: Mapping[str, Any]) -> Finding:
    return Finding(
        **{name: one[name] for name in (*_SAME, "means", "looks_like")},
        rollouts=tuple(map(_place_from, one["rollouts"])),
        tokens=tuple(TokenPlace(_place_from(place), place["position"]) for place in one["tokens"]),
        next=tuple((step["page"], step["what"]) for step in one["next"]),
        metrics=tuple(one["metrics"]),
        at_steps=tuple(one.get("at_steps", ())),
        signs=tuple(map(_finding_from, one["sign_findings"])),
    )
