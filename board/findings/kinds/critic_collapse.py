"""Values stop predicting returns: the critic's explained variance falls below zero, worse than a constant."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.text.format_number import fmt

_SUMS: Final = {"logged returns": ("value_error", "valued_return"), "rewards to go": ("value_error_mc", "valued_return_mc")}
"""What values are held against, and the token sums of the error and of what is to be predicted.

Logged returns are asked first; but those of GAE follow the values themselves, so that rewards to go can show what they hide."""
_OUTCOME: Final = "rewards of their responses"
"""What mean values are held against where there are neither: a scale of its own tells nothing there, so that only a fall does."""
_LEAST_ROWS: Final = 48
_LEAST_STEPS: Final = 6
_VARIES: Final = 1e-4
"""Share of the returns' squares that must be variance within steps: what is left of rounding, or of a small KL penalty, cannot be explained."""
_BEGINNING: Final = 0.2
"""The share of the steps that a critic has to learn anything."""


@dataclass(frozen=True)
class Squares:
    """Sums of squares of every rollout's tokens around the mean of their step, (rows,); NaN where a rollout has no values."""

    error: Float64Array
    """Of return minus value."""
    total: Float64Array
    """Of the return."""

    def explained(self, marks: NDArray[np.bool_]) -> float:
        """Explained variance over the marked rollouts; NaN where there is nothing to explain."""
        total = float(np.nansum(self.total[marks]))
        return 1 - float(np.nansum(self.error[marks])) / total if total > 0 else np.nan


def squares(steps: Steps, count: Float64Array, mean: Float64Array, m2: Float64Array) -> Float64Array:
    """(n,) sums of squares around the mean of each one's step, from count, mean and squares around its own mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        of_step = steps.mean(count * mean) / steps.mean(np.where(np.isfinite(mean), count, np.nan))
    return m2 + count * np.square(mean - of_step[steps.row])


def _look(dossier: Dossier, limits: Limits) -> Answer:
    held = [name for name, (error, _) in _SUMS.items() if f"{error}/m2" in dossier.run.moment_names]
    if not held and np.isfinite(dossier.number("value_mean") + dossier.number("reward")).any():
        held = [_OUTCOME]
    if not held:
        return CannotTell("no rollout has values beside returns or rewards")
    answers = [_held_against(dossier, name, limits) for name in held]
    found = [answer for answer in answers if isinstance(answer, Found)]
    return found[0] if found else answers[0]


def _held_against(dossier: Dossier, held: str, limits: Limits) -> Answer:
    sums = [_sums(dossier, held, name) for name in _SUMS.get(held, ("error", "total"))]
    found = Squares(*(squares(dossier.steps, *one) for one in sums))
    known = np.isfinite(found.error) & np.isfinite(found.total)
    if known.sum() < _LEAST_ROWS or len(np.unique(dossier.steps.row[known])) < _LEAST_STEPS:
        return CannotTell(f"fewer than {_LEAST_ROWS} rollouts, or than {_LEAST_STEPS} steps, have values and returns")
    scale = float(np.mean(found.total[known]))
    count, mean, m2 = sums[1]
    if not scale > _VARIES * float(np.mean((m2 + count * np.square(mean))[known])):
        return CannotTell("the returns of a step hardly vary, so that there is nothing to explain")
    # above 0 where the critic is worse than a constant; unlike a ratio, steps with little to explain weigh little. An error that explodes is
    # dated where it begins, not where it is largest
    more = np.arcsinh((found.error - found.total) / scale)
    curve = dossier.curve_of(more)
    turn = curve.turn()
    turned = turn is not None and turn.change > 0 and turn.z >= limits["z"]
    # values of a critic that begins untrained say nothing yet: without a turn the beginning is left out
    at = turn.at if turn is not None and turned else round(_BEGINNING * len(curve.steps))
    since = dossier.since(at) & known
    worse = more[since]
    strength = float(worse.mean() / (worse.std() / np.sqrt(len(worse)))) if len(worse) > 1 and worse.std() > 0 else 0.0
    before, after = found.explained(~dossier.since(at) & known), found.explained(since)
    if not after < limits["explained"] or strength < limits["z"] or (turned and not before > after):
        return None
    if held == _OUTCOME and not (turned and before > 0):
        return None
    first, shown = int(curve.steps[at]), dossier.clearest(since & (found.error > found.total), found.error)
    fell = f"from step {first} the explained variance falls from {fmt(before)} to {fmt(after)}"
    effect = fell if turned else f"the explained variance from step {first} on is {fmt(after)}"
    effect += f": values predict the {held} worse than a constant would"
    strength = max(strength, turn.z if turn is not None and turned else 0.0)
    return Found.since(dossier, at, effect, "explained", after, strength, shown)


def _sums(dossier: Dossier, held: str, name: str) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Count, mean and squares around the mean of an error, or of what is to be predicted, by rollout: (rows,) each."""
    if held != _OUTCOME:
        count, mean, m2 = (dossier.run.moment(f"{name}/{one}", dossier.keys) for one in ("count", "mean", "m2"))
        return count, mean, m2
    values, rewards = dossier.number("value_mean"), dossier.number("reward")
    told = rewards - values if name == "error" else np.where(np.isfinite(values), rewards, np.nan)
    return np.ones(len(told)), told, np.zeros(len(told))


KIND: Final = declared("critic_collapse", _look)
