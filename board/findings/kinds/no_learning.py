"""The reward does not move over many steps, though there is something to learn from."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.series import Series
from board.text.format_number import fmt

_LEAST_STEPS: Final = 20
_SURE: Final = 2.0
"""Standard errors by which the rise must be below what counts as learning."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
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


KIND: Final = declared("no_learning", _look)
