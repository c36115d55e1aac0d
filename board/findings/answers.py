"""Whether responses are right by something else than the reward: the validation reward, else the ground truth in the response. Knows no kind."""

from typing import Final

import numpy as np

from board.findings.dossier import Dossier
from board.findings.spreading import first_rows
from board.metrics.formulas import Float64Array

LEAST: Final = 5
"""Responses with and without the answer that tell what it earns."""


def correctness(dossier: Dossier) -> Float64Array | None:
    """(rows,) the validation reward, else whether the ground truth stands in the response (0 or 1), NaN where missing; None without both."""
    for name in ("valid_reward", "answer_present"):
        values = dossier.number(name)
        if np.isfinite(values).any() and np.nanmin(values) < np.nanmax(values):
            return values
    return None


def paid(dossier: Dossier) -> Float64Array | None:
    """(rows,) 1 where a response is paid like one with the right answer, 0 where not, NaN where it has no reward.

    As much as half-way between what responses with and without the ground truth earn in the run's first steps, or in the whole run where
    those do not tell. None where an answer does not pay, or no ground truth can be looked for.
    """
    reward, present = dossier.number("reward"), dossier.number("answer_present")
    both = np.isfinite(reward) & np.isfinite(present)
    for rows in (both & first_rows(dossier), both):
        right, wrong = reward[rows & (present == 1)], reward[rows & (present == 0)]
        if min(len(right), len(wrong)) < LEAST:
            continue
        apart = float(right.mean() - wrong.mean())
        error = float(np.sqrt(right.var() / len(right) + wrong.var() / len(wrong)))
        if apart > 3 * error:
            half_way = float(right.mean() + wrong.mean()) / 2
            return np.where(np.isfinite(reward), (reward >= half_way).astype(np.float64), np.nan)
    return None
