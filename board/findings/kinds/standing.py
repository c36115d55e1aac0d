"""A reward that stands: it does not move though there is something to learn from, or as good as all have the best there is."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.reward_parts import is_penalty, reward_parts
from board.findings.change_points import CLEAR
from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.departures import dated
from board.findings.dossier import Dossier
from board.findings.series import Series
from board.text.format_number import fmt

_LEAST_STEPS: Final = 20
_SURE: Final = 2.0
"""Standard errors by which the rise must be below what counts as learning."""


def _look_for_a_move(dossier: Dossier, limits: Limits) -> Answer:
    rewards = dossier.number("reward")
    curve = dossier.curve_of(dossier.prompt_for_prompt(rewards))
    known = np.isfinite(curve.mean)
    if known.sum() < _LEAST_STEPS:
        return CannotTell(f"fewer than {_LEAST_STEPS} steps have rewards")
    inside = dossier.within_groups(rewards)
    inside = inside[np.isfinite(inside)]
    # what moves inside groups is what can be learned; without groups, what moves inside steps
    spread = float(inside.std()) if len(inside) else float(np.sqrt(np.nanmean(dossier.steps.variance(rewards))))
    if not spread > 0:
        return CannotTell("no two rewards that could be compared differ: there is nothing to learn from")
    rise, error = _line(curve)
    if rise + _SURE * error > limits["rise"] * spread or rise < -limits["rise"] * spread:
        return None
    turn = curve.turn()
    if turn is not None and turn.z >= limits["z"]:
        return None  # it moves, if not in a line
    steps = curve.steps[known]
    effect = f"over {len(steps)} steps the reward moves by {fmt(rise)} ± {fmt(_SURE * error)}, while rewards of one "
    effect += f"{'group' if len(inside) else 'step'} differ by {fmt(spread)} (one standard deviation)"
    strength = (limits["rise"] * spread - rise) / error if error > 0 else 0.0
    shown = dossier.clearest(np.isfinite(rewards) & dossier.since(int(np.flatnonzero(known)[-1])))
    return Found(effect, int(steps[0]), int(steps[-1]), "rise", rise / spread, strength, shown)


def _line(curve: Series) -> tuple[float, float]:
    """How far a straight line through the curve rises from the first step to the last, and the standard error of that, from what it leaves."""
    known = np.isfinite(curve.mean)
    x, y = curve.steps[known].astype(np.float64), curve.mean[known]
    x = (x - x.mean()) / np.ptp(x)
    slope = float(x @ (y - y.mean()) / (x @ x))
    left = y - y.mean() - slope * x
    return slope, float(np.sqrt((left @ left) / max(1, len(y) - 2) / (x @ x)))


_EDGE: Final = 0.2
"""The share of the steps at the end, and at least this many steps, that must be so."""
_LEAST_EDGE: Final = 3
_NEAR: Final = 0.01
"""Rewards are as good as equal when they are nearer to each other than this share of the range of rewards."""
_GOOD: Final = 0.8
"""Quantile of the first steps' rewards that a level must reach to be a good one."""
_LOW: Final = 0.2
"""A part whose mean is so small a share of its largest value is hardly earned."""


def _look_for_the_best(dossier: Dossier, limits: Limits) -> Answer:
    rewards = dossier.number("reward")
    known = np.isfinite(rewards)
    count = len(dossier.steps.numbers)
    if count < 2 * _LEAST_EDGE or not known.any():
        return CannotTell("too few steps have rewards")
    edge = max(_LEAST_EDGE, round(_EDGE * count))
    first, last = rewards[~dossier.since(edge) & known], rewards[dossier.since(count - edge) & known]
    extent = float(np.ptp(rewards[known]))
    if not len(first) or not len(last) or extent <= 0:
        return None  # a reward that never varies says nothing of what is good
    top = float(np.median(last))
    if top < np.quantile(first, _GOOD) or top <= first.mean():
        return None
    best = np.where(known, (np.abs(rewards - top) <= _NEAR * extent).astype(np.float64), np.nan)
    curve = dossier.curve_of(best)
    level = float(np.nanmean(curve.mean[-edge:])) if np.isfinite(curve.mean[-edge:]).any() else np.nan
    if not level >= limits["share"]:
        return None
    below = np.flatnonzero(np.nan_to_num(curve.mean, nan=1.0) < limits["share"] - 0.05)
    at = int(below[-1]) + 1 if len(below) else 0
    rows = float(curve.count[at:].sum())
    since = dossier.since(at) & (best == 1)
    if rows * (1 - limits["share"]) < 1 or at >= len(curve.steps):
        return None  # so few rollouts may all be the best by chance
    turn = curve.turn()
    behind = _left_behind(dossier, since)
    begins = at if turn is None or turn.z < CLEAR else min(at, dated(curve, turn))
    effect = (
        f"from step {int(curve.steps[at])} on {fmt(100 * float(np.nansum(best[dossier.since(at)])) / rows)} % of the rewards are "
    )
    effect += f"as good as equal ({fmt(top)}): hardly any group gives a gradient{behind}"
    strength, severity = float(np.sqrt(rows * level)), "warning" if behind else None
    return Found.since(dossier, begins, effect, "share", level, strength, dossier.clearest(since), severity=severity)


def _left_behind(dossier: Dossier, since: NDArray[np.bool_]) -> str:
    """Which parts of the reward stay low while the whole is at its best, as what is paid is the others; empty where none does."""
    low = []
    for name in (one for one in reward_parts(dossier.frame) if not is_penalty(one)):
        values = dossier.number(name)
        there = values[since & np.isfinite(values)]
        most, mean = float(values[np.isfinite(values)].max(initial=0.0)), float(there.mean()) if len(there) else np.inf
        if mean < _LOW * most:
            low.append(f"`{name}` stays at {fmt(mean)} of {fmt(most)}")
    return f"; it is not earned by all of its parts: {', '.join(low)}" if low else ""


NO_LEARNING: Final = declared("no_learning", _look_for_a_move)
REWARD_SATURATED: Final = declared("reward_saturated", _look_for_the_best)
KINDS: Final = (
    NO_LEARNING,
    REWARD_SATURATED,
)
