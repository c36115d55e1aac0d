"""What more and more responses show: loops, cuts at the limit, no end token, thoughts without an answer, pay without the answer.

A row for each: from a dossier to which responses show it. How it spreads is in `board.findings.spreading`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from board.findings.answers import cut_off, paid
from board.findings.contract import Answer, CannotTell, Kind, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import Spread, as_found, spread
from board.metrics.formulas import BoolArray, Float64Array


@dataclass(frozen=True)
class _Shown:
    known: BoolArray
    """(rows,) of which responses it can be told,"""
    marks: BoolArray
    """and which of them show it."""
    what: str
    """What they do, as a sentence says it."""
    by: Float64Array | None = None
    """(rows,) how clearly."""
    at_once: str = "share"
    """The threshold of the share from which on it is a fault from the first step on."""
    more: Callable[[Spread], dict[str, Any] | None] = lambda _: {}
    """What else the finding says; None where it is none."""


def _kind(name: str, look: Callable[[Dossier, Limits], _Shown | CannotTell]) -> Kind:
    def run(dossier: Dossier, limits: Limits) -> Answer:
        shown = look(dossier, limits)
        if isinstance(shown, CannotTell):
            return shown
        marks = np.where(shown.known, shown.marks.astype(np.float64), np.nan)
        found = spread(dossier, marks, limits["rise"], limits["z"], limits.get(shown.at_once, np.inf))
        more = None if found is None else shown.more(found)
        if found is None or more is None:
            return None
        return as_found(found, dossier, shown.what, shown.known & shown.marks, shown.by, shown.at_once, **more)

    return declared(name, run)


def _cut(dossier: Dossier, limits: Limits) -> _Shown | CannotTell:
    cut = cut_off(dossier)
    if not (cut >= 0).any():
        return CannotTell("no rollout says why it ended, or has tokens")

    def more(found: Spread) -> dict[str, Any] | None:
        if found.after < limits["share"]:
            return None
        if np.isfinite(found.before):
            return {"severity": None}
        return {"severity": "note", "explains": (), "title": "Many responses are cut off, from the first step on"}

    what, length = "are cut off at the limit of length", dossier.number("response_length")
    return _Shown(np.isfinite(cut), cut == 1, what, length, "level", more)


def _loop(dossier: Dossier, limits: Limits) -> _Shown | CannotTell:
    loop, ratio = dossier.number("closing_loop"), dossier.number("compression_ratio")
    if not np.isfinite(loop).any():
        return CannotTell("no rollout has a text")
    looping = (loop >= limits["loop"]) | (ratio >= limits["ratio"])
    return _Shown(np.isfinite(loop), looping, "end in a loop", np.fmax(loop, ratio / 1_000))


def _endless(dossier: Dossier, _limits: Limits) -> _Shown | CannotTell:
    ended = dossier.number("ended")
    stopped = np.isfinite(ended) & (cut_off(dossier) == 0)
    if not (ended == 1).any():
        return CannotTell("no response has an end token: the trainer leaves them out, or tokens are ids")
    if not stopped.any():
        return CannotTell("no response is known to have ended by itself")
    return _Shown(stopped, ended == 0, "that ended by themselves lack the end token")


def _only_thought(dossier: Dossier, _limits: Limits) -> _Shown | CannotTell:
    thought = dossier.number("thought_only")
    if not np.isfinite(thought).any():
        return CannotTell("no response thinks in tags such as <think>")
    # of all responses: a tag that a few write by accident is no thinking; and what marks its answer in a thought has one
    known, only = np.isfinite(dossier.number("open_thought")), (thought == 1) & (dossier.number("answer_marked") != 1)

    def more(found: Spread) -> dict[str, Any]:
        # thoughts that stay open just because they are cut are a sign of the limit; if many end by themselves it is the other way round
        cut_too = np.mean(cut_off(dossier)[found.since & known & only] == 1) >= _NEARLY
        return {"explains": () if cut_too else None}

    return _Shown(known, only, "think and give no answer", dossier.number("response_length"), more=more)


def _without_answer(dossier: Dossier, _limits: Limits) -> _Shown | CannotTell:
    wins, present, answers = paid(dossier), dossier.number("answer_present"), dossier.number("answer_digest")
    if wins is None:
        return CannotTell("no ground truth that can be looked for pays when it stands in the response")
    known, empty = np.isfinite(wins) & np.isfinite(present), (wins == 1) & (present == 0)

    def more(found: Spread) -> dict[str, Any]:
        # wrong answers that are paid are a sign of whatever pays them; the form is the cause where there is no answer at all
        some = stated(answers[found.since & known & empty], answers[present == 1]) >= _MOSTLY
        return {"explains": () if some else None}

    what = "are paid like right ones without having the answer"
    return _Shown(known, empty, what, dossier.number("reward"), more=more)


def stated(answers: Float64Array, right: Float64Array) -> float:
    """Share of (n,) digests of final answers that are some answer: those of a right response, or those that few have; NaN is none."""
    found, counts = np.unique(answers[np.isfinite(answers)], return_counts=True)
    some = np.isin(found, right) | (counts <= max(2, _COMMON * len(answers)))
    return float(counts[some].sum() / len(answers)) if len(answers) else 0.0


_NEARLY: Final = 0.9
"""Share of thoughts without an answer that were cut off where the limit is the cause."""
_MOSTLY: Final = 0.5
"""Share of responses paid without the answer that state some final answer from which on the form alone is not what is paid."""
_COMMON: Final = 0.05
"""A final answer that so large a share of them gives, and no right response, is a phrase."""

TRUNCATION_WAVE: Final = _kind("truncation_wave", _cut)
REPETITION_LOOP: Final = _kind("repetition_loop", _loop)
EOS_MISSING: Final = _kind("eos_missing", _endless)
THINK_WITHOUT_ANSWER: Final = _kind("think_without_answer", _only_thought)
FORMAT_ONLY_WINS: Final = _kind("format_only_wins", _without_answer)
KINDS: Final = (TRUNCATION_WAVE, REPETITION_LOOP, EOS_MISSING, THINK_WITHOUT_ANSWER, FORMAT_ONLY_WINS)
