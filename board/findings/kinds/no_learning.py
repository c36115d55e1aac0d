"""The reward does not move over many steps, though there is something to learn from."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, Threshold
from board.findings.dossier import Dossier
from board.findings.series import Series
from board.text.format_number import fmt

_LEAST_STEPS: Final = 20
_SURE: Final = 2.0
"""Standard errors by which the rise must be below what counts as learning."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    if not dossier.is_training:
        return CannotTell("these are evaluations, on which nothing is trained")
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
    return Found(
        effect=f"over {len(steps)} steps the reward moves by {fmt(rise)} ± {fmt(_SURE * error)}, while rewards of one "
        f"{'group' if len(inside) else 'step'} differ by {fmt(spread)} (one standard deviation)",
        first_step=int(steps[0]),
        last_step=int(steps[-1]),
        crossed="rise",
        measured=rise / spread,
        strength=(limits["rise"] * spread - rise) / error if error > 0 else 0.0,
        rollouts=dossier.clearest(np.isfinite(rewards) & dossier.since(int(np.flatnonzero(known)[-1]))),
    )


def _line(curve: Series) -> tuple[float, float]:
    """How far a straight line through the curve rises from the first step to the last, and the standard error of that, from what it leaves."""
    known = np.isfinite(curve.mean)
    x, y = curve.steps[known].astype(np.float64), curve.mean[known]
    x = (x - x.mean()) / np.ptp(x)
    slope = float(x @ (y - y.mean()) / (x @ x))
    left = y - y.mean() - slope * x
    return slope, float(np.sqrt((left @ left) / max(1, len(y) - 2) / (x @ x)))


KIND: Final = Kind(
    name="no_learning",
    title="The reward does not move",
    severity="note",
    says="The reward does not move over many steps, though there is something to learn from.",
    formula="A straight line through the mean reward by step, like for like by prompt where prompts come again, else by data source: its "
    "rise over the run, plus two standard errors, against the standard deviation of rewards inside groups; no clear turn either.",
    thresholds=(
        Threshold(
            "rise",
            0.25,
            "rise over the run in standard deviations of rewards inside groups",
            "our judgement: less is not seen in samples",
        ),
        Threshold("z", 4.5, "clearness of a turn, which would be a move", "board/findings/change_points.py"),
    ),
    means="A learning rate of zero, gradients that are masked or clipped away, advantages that do not reach the loss, weights that the engine "
    "does not get.",
    looks_like="A policy at the limit of what it can do; a run that is too short for its learning rate.",
    next=(
        ("metrics", "gradient norm, learning rate and KL: does the policy move at all?"),
        ("groups", "do the groups give a gradient?"),
    ),
    run=_look,
    needs=("reward",),
    metrics=("reward",),
)
