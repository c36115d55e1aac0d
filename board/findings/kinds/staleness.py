"""Rollouts are sampled by older and older weights: what is trained on is farther and farther behind the policy."""

import re
from typing import Final

import numpy as np

from board.findings.change_points import LEAST_AFTER, LEAST_BEFORE
from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.text.format_number import fmt

_VERSIONS: Final = re.compile(
    r"(?:policy|weights?|model|actor|params?|parameters?|behaviou?r|sampler|generator|engine|rollout|tail|head)_?(?:versions?|steps?)",
    re.IGNORECASE,
)
"""Names under which trainers log which version of the weights sampled a rollout."""
_LAGS: Final = re.compile(r"staleness|(?:policy|version|weights?|off_?policy)_?(?:lag|age|steps_behind)", re.IGNORECASE)
"""Names under which they log how many steps old it was."""
_PACE: Final = (0.4, 2.5)
"""Versions that count steps go up by about one a step."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    named, lag = _lag(dossier)
    if lag is None:
        return CannotTell("no rollout says which version of the weights sampled it, or it does not count steps")
    curve = dossier.curve_of(lag)
    known = np.isfinite(curve.mean)
    if known.sum() < LEAST_BEFORE + LEAST_AFTER:
        return CannotTell(f"too few steps have {named}")
    turn = curve.turn()
    grows = turn is not None and turn.z >= limits["z"] and turn.change >= limits["growth"]
    at = turn.at if turn is not None and grows else 0
    since = dossier.since(at) & np.isfinite(lag)
    before, after = float(np.mean(lag[~since & np.isfinite(lag)])) if at else np.nan, float(np.mean(lag[since]))
    if not grows and after < limits["level"]:
        return None
    told = f"from step {int(curve.steps[at])} rollouts are {fmt(after)} steps old on average"
    told += (f", before {fmt(before)}" if grows else "") + _beside(dossier, lag, since)
    crossed, measured = ("growth", after - before) if grows else ("level", after)
    strength = turn.z if turn is not None and grows else after / limits["level"]
    shown = dossier.clearest(since & (lag > (before + limits["growth"] / 2 if grows else limits["level"] / 2)), lag)
    return Found.since(dossier, at, told, crossed, measured, strength, shown)


def _lag(dossier: Dossier) -> tuple[str, Float64Array | None]:
    """The column it is told by, and how many steps old each rollout is, (rows,)."""
    for name in sorted(map(str, dossier.frame.columns)):
        values = dossier.number(name)
        if not np.isfinite(values).any():
            continue
        if _LAGS.fullmatch(name):
            return name, values
        if _VERSIONS.fullmatch(name) and counts_steps(dossier.steps, values):
            behind = dossier.steps.of_rows - values
            return name, behind - min(0.0, float(np.nanmin(behind)))
    return "", None


def counts_steps(steps: Steps, versions: Float64Array) -> bool:
    """Whether (n,) versions go up with the steps, by about one for each: a version of something else does not."""
    newest = np.full(len(steps.numbers), -np.inf)
    known = np.isfinite(versions)
    np.maximum.at(newest, steps.row[known], versions[known])
    there = np.isfinite(newest)
    if there.sum() < LEAST_BEFORE + LEAST_AFTER or np.ptp(newest[there]) == 0:
        return False
    # weights that are sent no more stay at their last version
    moved = there & (np.arange(len(newest)) <= newest.argmax())
    if moved.sum() < LEAST_BEFORE + LEAST_AFTER:
        return False
    pace = float(np.polyfit(steps.numbers[moved].astype(np.float64), newest[moved], 1)[0])
    return _PACE[0] <= pace <= _PACE[1]


def _beside(dossier: Dossier, lag: Float64Array, since: np.ndarray) -> str:
    """How the lag goes with the distance between trainer and engine, where both are known."""
    if "mismatch_abs/mean" not in dossier.run.moment_names:
        return ""
    apart = dossier.run.moment("mismatch_abs/mean", dossier.keys)
    both = since & np.isfinite(apart)
    if both.sum() < 20 or not (np.std(lag[both]) > 0 and np.std(apart[both]) > 0):
        return ""
    together = float(np.corrcoef(lag[both], apart[both])[0, 1])
    return f"; their age goes with the distance of trainer and engine by a correlation of {fmt(together)}"


KIND: Final = declared("staleness", _look)
