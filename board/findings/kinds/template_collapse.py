"""Responses no longer depend on their prompt: one template serves all."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.findings.change_points import turn
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Limits, declared
from board.metrics.formulas import Float64Array

_LEAST_LOST: Final = 5
"""Responses nearest to another prompt's that tell how alike such are."""


def _look(context: Context, limits: Limits) -> Answer:
    found, other = context.dependence
    if not np.isfinite(found).any():
        return CannotTell("no step has responses to several prompts")
    curve = context.curve_of(context.like_for_like(found))
    shift = turn(curve, _FLOOR)
    if shift is None or shift.z < limits["z"] or -shift.change < limits["fall"]:
        return None
    since = context.since(shift.at)
    before, after = (float(np.nanmean(found[rows])) for rows in (~since, since))
    alike_before, alike = _alike_where_lost(found, other, ~since), _alike_where_lost(found, other, since)
    # short answers, or noise, name no prompt either, but are not alike
    if not alike - alike_before >= limits["alike"]:
        return None
    lost = since & (found <= 0) & (other > np.nanmean(other[~since]))
    effect = f"from step {shift.step} the nearest other response tells the prompt in {100 * max(after, 0.0):.0f} of 100 cases beyond chance, "
    effect += f"before in {100 * before:.0f}; those nearest to another prompt's are like other prompts' by {alike:.2f}, "
    effect += f"before by {alike_before:.2f}"
    # a phrase that all share makes them alike, too, but they still differ by prompt
    explains = None if after < _LOST else tuple(name for name in KIND.explains if name != "phrase_exploit")
    return Found.since(
        context, shift.at, effect, "fall", -shift.change, shift.z, context.clearest(lost, other), explains=explains
    )


def _alike_where_lost(found: Float64Array, other: Float64Array, rows: NDArray[np.bool_]) -> float:
    """How alike to other prompts' responses those of `rows` are that are nearest to one of them; of few, all of `rows` tell."""
    lost = rows & (found <= 0)
    chosen = lost if lost.sum() >= _LEAST_LOST else rows & np.isfinite(other)
    return float(np.nanmean(other[chosen])) if chosen.any() else np.nan


_FLOOR: Final = 0.03
"""Noise of the curve at the least: where every response finds its prompt, one that does not is no turn."""

_LOST: Final = 0.3
"""Share that names its prompt, below which responses are one text rather than share a phrase."""

KIND: Final = declared("template_collapse", _look)
