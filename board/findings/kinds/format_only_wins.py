"""Responses are paid like right ones and do not have the answer: the form is rewarded, not what it holds."""

from typing import Final

import numpy as np

from board.findings.answers import paid
from board.findings.contract import Answer, CannotTell, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, spread
from board.metrics.formulas import Float64Array


def _look(dossier: Dossier, limits: Limits) -> Answer:
    wins, present = paid(dossier), dossier.number("answer_present")
    if wins is None:
        return CannotTell("no ground truth that can be looked for pays when it stands in the response")
    both = np.isfinite(wins) & np.isfinite(present)
    empty = (wins == 1) & (present == 0)
    found = spread(dossier, np.where(both, empty.astype(np.float64), np.nan), limits["rise"], limits["z"])
    if found is None:
        return None
    shown = found.since & both & empty
    answers = dossier.number("answer_digest")
    return as_found(
        found,
        dossier,
        "are paid like right ones without having the answer",
        shown,
        dossier.number("reward"),
        # wrong answers that are paid are a sign of whatever pays them; the form is the cause where there is no answer at all
        explains=() if stated(answers[shown], answers[present == 1]) >= _MOSTLY else None,
    )


_MOSTLY: Final = 0.5
"""Share of these responses that state some final answer from which on the form alone is not what is paid."""
_COMMON: Final = 0.05
"""A final answer that so large a share of them gives, and no right response, is a phrase."""


def stated(answers: Float64Array, right: Float64Array) -> float:
    """Share of (n,) digests of final answers that are some answer: those of a right response, or those that few have; NaN is none."""
    found, counts = np.unique(answers[np.isfinite(answers)], return_counts=True)
    some = np.isin(found, right) | (counts <= max(2, _COMMON * len(answers)))
    return float(counts[some].sum() / len(answers)) if len(answers) else 0.0


KIND: Final = declared("format_only_wins", _look)
