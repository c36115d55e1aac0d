"""Responses cut off before an answer are paid like good ones."""

from typing import Final

import numpy as np

from board.findings.answers import LEAST, correctness, cut_off, paid
from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import spread
from board.metrics.formulas import BoolArray, Float64Array


def _look(dossier: Dossier, limits: Limits) -> Answer:
    cut, reward = cut_off(dossier) == 1, dossier.number("reward")
    unanswered = _unanswered(dossier)
    if unanswered is None:
        return CannotTell("neither the ground truth nor marks of answers or thoughts tell whether a response has an answer")
    wins = paid(dossier)
    if wins is None:
        wins = _paid_like_the_rest(reward, cut)
    if wins is None:
        return CannotTell("no reward tells good responses from others")
    wrongly = cut & unanswered & (wins == 1)
    marks = np.where(cut & unanswered & np.isfinite(wins), wrongly.astype(np.float64), np.nan)
    if wrongly.sum() < max(LEAST, limits["least"] * len(marks)):
        return None
    found = spread(dossier, marks, limits["paid"], limits["z"], at_once=limits["paid"])
    if found is None:
        return None
    return Found(
        effect=found.effect("cut off before an answer are paid like good ones"),
        first_step=found.step,
        last_step=found.last_step,
        crossed="paid",
        measured=found.grown,
        strength=found.z,
        rollouts=dossier.clearest(found.since & wrongly, reward),
        explains=None if _are_most(dossier, wrongly, wins) else (),
    )


def _are_most(dossier: Dossier, wrongly: BoolArray, wins: Float64Array) -> bool:
    """Whether they are at least half of all that is paid without being right: else what others are paid for is not explained by them."""
    right = correctness(dossier)
    if right is None:
        return True
    unearned = (wins == 1) & np.isfinite(right) & (right <= np.nanmean(right))
    return bool(wrongly.sum() >= unearned.sum() / 2)


def _unanswered(dossier: Dossier) -> BoolArray | None:
    """(rows,) whether a response has no answer, as far as the ground truth, thoughts or marks of final answers tell; None where none does."""
    present, thought, marked = (dossier.number(name) for name in ("answer_present", "thought_only", "answer_marked"))
    present = present if np.isfinite(present).any() and np.nanmean(present) >= _FOUND else np.full(len(present), np.nan)
    uncut = np.isfinite(marked) & (cut_off(dossier) == 0)
    usually = bool(uncut.any()) and marked[uncut].mean() >= _USUALLY
    if not (np.isfinite(present).any() or np.isfinite(thought).any() or usually):
        return None
    right = correctness(dossier)
    good = np.zeros(len(present), np.bool_) if right is None else right > np.nanmean(right)
    told: BoolArray = (present == 0) | (thought == 1) | (usually & (marked == 0))
    return told & ~good


def _paid_like_the_rest(reward: Float64Array, cut: BoolArray) -> Float64Array | None:
    """(rows,) 1 where a reward is at least the median of the responses that were not cut off; None where these do not differ."""
    others = reward[~cut & np.isfinite(reward)]
    if len(others) < LEAST or others.min() == others.max():
        return None
    return np.where(np.isfinite(reward), ((reward >= np.median(others)) & (reward > others.min())).astype(np.float64), np.nan)


_FOUND: Final = 0.05
"""Share of responses that have the ground truth where one without it has no answer: else it is a text that no response would hold."""

_USUALLY: Final = 0.7
"""Share of responses, those not cut off, that mark a final answer where one without the mark has none."""

KIND: Final = declared("reward_after_truncation", _look)
