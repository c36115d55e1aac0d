"""The table of checks, and the function that runs all of them over a run."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from board.findings.checks import alignment, arrays, completeness, loading, repetition, texts
from board.findings.checks.contract import (
    SEVERITIES,
    Answer,
    Check,
    CheckReport,
    EvidencePlace,
    Fault,
    ReportedFault,
    Unable,
    failed,
)
from board.findings.checks.evidence import Evidence, collect
from board.runs import empty_run
from board.runs.run import Run

NAMED_PLACES: Final = 5
"""So many places of a finding are named."""

_MEASURES: Final = (arrays.measure, alignment.measure, texts.measure, repetition.measure)

_RUN: Final[Mapping[str, Callable[[Evidence], Answer]]] = {
    "refused": loading.refused,
    "no-responses": partial(completeness.not_one, look=empty_run.without_responses),
    "no-rewards": partial(completeness.not_one, look=empty_run.without_rewards),
    "array-lengths": loading.lengths,
    "missing-numbers": arrays.missing_numbers,
    "positive-logprobs": arrays.positive_logprobs,
    "off-by-one": alignment.off_by_one,
    "reward-sum": alignment.reward_sum,
    "first-step": alignment.first_step,
    "masked-tokens": arrays.masked_certain,
    "unmasked-tokens": arrays.certain_stretch,
    "mask-values": arrays.odd_mask,
    "text": texts.text_differs,
    "special-tokens": texts.special_left_out,
    "same-row": repetition.same_row,
    "same-response": repetition.same_response,
    "resumed": loading.resumed,
    "two-files": completeness.two_files,
    "clock": completeness.clock,
    "missing-steps": completeness.missing_steps,
    "missing-ranks": completeness.missing_ranks,
    "small-steps": completeness.small_steps,
    "small-groups": completeness.small_groups,
    "missing-rewards": completeness.missing_rewards,
    "odd-values": loading.odd_values,
    "lost": loading.lost,
    "left-out": loading.left_out,
    "noted": loading.noted,
    "unfinished": loading.unfinished,
}


def _declared() -> Iterator[Check]:
    """The checks as `checks.toml` says them."""
    for name, entry in tomllib.loads(Path(__file__).with_name("checks.toml").read_text(encoding="utf-8")).items():
        lists = {key: tuple(entry.get(key, ())) for key in ("needs", "explains")}
        yield Check(name=name, run=_RUN[name], **entry | lists)


CHECKS: Final = tuple(_declared())
"""Every check, in the order in which findings of one severity are listed."""

_WITHOUT_ROWS: Final = frozenset({"refused", "unfinished", "odd-values", "lost", "noted"})
"""Checks that look at no rollout."""


def run_checks(run: Run, progress: Callable[[float], None] | None = None) -> CheckReport:
    """Run all checks of a run in one pass over its tokens; `progress` receives the share of the pass that is done, 0 to 1."""
    evidence = collect(run, _MEASURES, progress)
    answers = [(check, _answer(check, evidence, whole=run.reading is None)) for check in CHECKS]
    findings = [_finding(check, found, run, evidence) for check, answer in answers for found in _found(answer)]
    return CheckReport(
        rollouts=len(run.frame),
        findings=tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.check.severity))),
        passed=tuple(check for check, answer in answers if not answer),
        unable=tuple((check, answer.reason) for check, answer in answers if isinstance(answer, Unable)),
    )


def _answer(check: Check, evidence: Evidence, *, whole: bool) -> Answer:
    if check.of_whole and not whole:
        return Unable("it looks at the whole run, of which a part is read")
    if evidence.frame.empty and check.name not in _WITHOUT_ROWS:
        return Unable("there are no rollouts")
    absent = [name for name in check.needs if name not in evidence.fields]
    if absent:
        return Unable(f"no rollout has {' or '.join(absent)}")
    try:
        return check.run(evidence)
    except Exception as error:  # noqa: BLE001 - a check may be anybody's, and the others still tell
        return Unable(failed(error))


def _found(answer: Answer) -> Sequence[Fault]:
    if isinstance(answer, tuple):
        return answer
    return (answer,) if isinstance(answer, Fault) else ()


def _finding(check: Check, found: Fault, run: Run, evidence: Evidence) -> ReportedFault:
    where = [place_of(key, run) for key in found.keys[:NAMED_PLACES].tolist()]
    where = where or [_line(source, run) for source in found.places[:NAMED_PLACES]]
    places, by_line = len(found.keys) or len(found.places), not len(found.keys) and found.places
    shown = np.isin(evidence.lines, found.places) if by_line else evidence.frame.index.isin(found.keys)
    at_steps = tuple(np.unique(evidence.frame["step"][shown]).tolist())
    return ReportedFault(check, found.what, len(found.keys) or None, found.tokens, found.at_least, tuple(where), places, at_steps)


def place_of(key: int, run: Run) -> EvidencePlace:
    """Where the rollout is, and of which step."""
    rollout = run.rollout(key)
    return EvidencePlace(rollout.source, rollout.step)


def _line(source: str, run: Run) -> EvidencePlace:
    """A line that loading named: of a rollout where it was loaded, of none where it was refused."""
    key = run.key_of(source)
    return EvidencePlace(source) if key is None else place_of(key, run)
