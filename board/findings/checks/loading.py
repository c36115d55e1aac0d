"""What loading refused or flagged, sorted by what is wrong, from the load report alone.

The report keeps the first thousand problems of a severity, so beyond that a finding says "at least".
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.findings.checks.contract import Answer, Fault, shown_by
from board.findings.checks.evidence import Evidence
from board.runs.load_report import LIGHTENED, LoadReport
from board.schema import LEFT_OUT, TOKEN_METRICS
from board.sources.shards import Problem
from board.text.counting import plural

_LENGTHS: Final = re.compile(r"\S+ has [\d,]+ (?:numbers?|lists?) for [\d,]+ tokens?: ")
_RESUMED: Final = re.compile(r"step -?\d+ is written \d+ times ")
_NOT_FINITE: Final = re.compile(rf"(?:{'|'.join(TOKEN_METRICS)}) has no finite number at ")
_REWARD: Final = re.compile(r"reward is (?!the text)")
_ODD_NUMBER: Final = re.compile(r"(?P<name>.+) is (?:nan|-?inf): it enters no mean")

_QUOTED: Final = 3
"""So many reasons are quoted."""


def refused(evidence: Evidence) -> Answer:
    """Lines and shards that were not loaded."""
    problems = [problem for problem in evidence.report.problems if problem.severity == "refused"]
    if not problems:
        return None
    count = evidence.report.refused
    what = f"{count:,} {'line or file' if count == 1 else 'lines or files'} not loaded: {_reasons(problems)}"
    return Fault(what, places=_places(problems))


def lengths(evidence: Evidence) -> Answer:
    """Arrays of another length than the tokens."""
    problems = _flagged(evidence.report, _LENGTHS.match)
    return _found(evidence.report, problems, "{count} of another length than the tokens: {reasons}", "array")


def uneven(evidence: Evidence) -> NDArray[np.bool_]:
    """Rollouts with an array of another length than the tokens, as far as the report names them. Shape (rollouts,)."""
    found: NDArray[np.bool_] = pd.Index(evidence.lines).isin(_places(_flagged(evidence.report, _LENGTHS.match)))
    return found


def odd_numbers(evidence: Evidence) -> dict[str, NDArray[np.bool_]]:
    """By the name of a number of the row, but the reward, which rollouts say that it is NaN or infinite. Shape (rollouts,) each.

    Where not every problem is listed, it is every rollout without the number from the first named one on. A split or a data source none of
    whose rollouts has the number, while another's have it, is not meant to have it.
    """
    places: dict[str, set[str]] = {}
    for problem in _flagged(evidence.report, _ODD_NUMBER.fullmatch):
        name = problem.reason.rpartition(" is ")[0]
        places.setdefault(name, set()).add(f"{problem.shard}:{problem.line}")
    found = {name: pd.Index(evidence.lines).isin(named) for name, named in places.items() if name != "reward"}
    found = {name: marks for name, marks in found.items() if marks.any()}
    if evidence.report.flagged > sum(problem.severity == "flagged" for problem in evidence.report.problems):
        steps = evidence.frame["step"].to_numpy()
        lacking = pd.DataFrame(~np.isfinite(evidence.frame.reindex(columns=[*found]).to_numpy(np.float64)), columns=[*found])
        found = {name: lacking[name].to_numpy() & (steps >= steps[marks].min()) for name, marks in found.items()}
    return {name: marks & ~_not_meant(evidence.frame, marks) for name, marks in found.items()}


def _not_meant(frame: pd.DataFrame, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    kinds = [frame.get(name, pd.Series("", frame.index)).astype(str) for name in ("split", "data_source")]
    shares = pd.Series(marks, frame.index).groupby(kinds, dropna=False).transform("mean").to_numpy()
    found: NDArray[np.bool_] = (shares == 1) & bool((shares == 0).any())
    return found


def resumed(evidence: Evidence) -> Answer:
    """Steps written more than once."""
    problems = _flagged(evidence.report, _RESUMED.match)
    steps = len({problem.reason.split()[1] for problem in problems})  # each rank's file may say it
    return _found(evidence.report, problems, "{count} more than once: {reasons}", "step written", "steps written", steps)


def odd_values(evidence: Evidence) -> Answer:
    """Everything else that loading flagged and no other check reports."""
    seen = _seen_elsewhere(evidence) if _flagged(evidence.report, lambda _: True) else set()

    def is_new(problem: Problem) -> bool:
        reason = problem.reason
        if _LENGTHS.match(reason) or _RESUMED.match(reason):
            return False
        kind = "numbers" if _NOT_FINITE.match(reason) else "reward" if _REWARD.match(reason) else ""
        return not (kind != "reward" and _ODD_NUMBER.fullmatch(reason)) and (kind, f"{problem.shard}:{problem.line}") not in seen

    problems = [problem for problem in evidence.report.problems if problem.severity == "flagged" and is_new(problem)]
    return _found(evidence.report, problems, "{count}: {reasons}", "oddity", "oddities")


def _seen_elsewhere(evidence: Evidence) -> set[tuple[str, str]]:
    """Rollouts whose missing numbers or reward their own checks count."""
    seen: set[tuple[str, str]] = set()
    if len(evidence.frame):
        missing = evidence.without_numbers & ~uneven(evidence)
        seen |= {("numbers", line) for line in evidence.lines[missing]}
    if "reward" in evidence.frame:
        seen |= {("reward", line) for line in evidence.lines[~np.isfinite(evidence.frame["reward"].to_numpy(np.float64))]}
    return seen


def unfinished(evidence: Evidence) -> Answer:
    """Shards whose last line is still being written."""
    shards = evidence.report.unfinished
    if not shards:
        return None
    what = f"The last line of {plural(len(shards), 'shard')} is not whole yet"
    return Fault(what, places=tuple(shards))


def lost(evidence: Evidence) -> Answer:
    """What the recorder says it could not write; what its budget left out on purpose is in `left_out`."""
    sentences = [sentence.removesuffix(".") for sentence in evidence.report.lost]
    return Fault("; ".join(sentences)) if sentences else None


def noted(evidence: Evidence) -> Answer:
    """What loading noted, each for itself, as the screen counts it; what the budget left out is in `left_out`."""
    return tuple(Fault(sentence.removesuffix(".")) for sentence in evidence.report.noted if not sentence.startswith(LIGHTENED))


def left_out(evidence: Evidence) -> Answer:
    """Rollouts whose token arrays the recorder's budget left out."""
    marks = (evidence.frame[LEFT_OUT] == 1).to_numpy()
    return shown_by(evidence, marks, "{rollouts} without token arrays: the recorder's budget stored only their means and sums")


def _flagged(report: LoadReport, matches: Callable[[str], object]) -> list[Problem]:
    return [problem for problem in report.problems if problem.severity == "flagged" and matches(problem.reason)]


def _found(report: LoadReport, problems: Sequence[Problem], what: str, noun: str, nouns: str = "", number: int = 0) -> Answer:
    if not problems:
        return None
    number = number or len(problems)
    count = f"{number:,} {nouns}" if nouns and number > 1 else plural(number, noun)
    at_least = report.flagged > sum(problem.severity == "flagged" for problem in report.problems)
    return Fault(what.format(count=count, reasons=_reasons(problems)), places=_places(problems), at_least=at_least)


def _places(problems: Sequence[Problem]) -> tuple[str, ...]:
    places = [problem.shard if problem.line is None else f"{problem.shard}:{problem.line}" for problem in problems]
    return tuple(dict.fromkeys(places))


def _reasons(problems: Sequence[Problem]) -> str:
    reasons = list(dict.fromkeys(problem.reason for problem in problems))
    shown = "; ".join(reasons[:_QUOTED])
    return shown if len(reasons) <= _QUOTED else f"{shown}; and {len(reasons) - _QUOTED:,} more reasons"
