"""A growing share of prompts is solved never or always: the rewards of their groups are equal, and they give no gradient."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

_LEARNED: Final = 0.9
"""Where so much of them, or of their growth, is solved always, the policy has learned them: worth knowing, and no harm."""
_EDGE: Final = 0.2
"""The share of the steps at the end whose level is said."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    grouped = dossier.grouped
    if grouped is None or not (grouped.groups["scored"] > 1).any():
        return CannotTell("no group has several rollouts with a reward")
    dead = np.full(len(dossier.frame), np.nan)
    rows = dossier.key_order[np.searchsorted(dossier.keys, grouped.keys, sorter=dossier.key_order)]
    scored = (grouped.groups["scored"] > 1).to_numpy()
    # each group counts once, however many rollouts it has
    flat = np.where(scored, grouped.groups["flat"].to_numpy().astype(np.float64), np.nan)
    dead[rows] = np.repeat(flat, grouped.groups["rollouts"].to_numpy())
    firsts = np.full(len(dead), np.nan)
    firsts[rows[grouped.starts[:-1]]] = flat
    curve = dossier.curve_of(dossier.prompt_for_prompt(firsts))
    # a step of one or two groups tells its share no better than as many draws do
    share, groups = float(np.nanmean(firsts)), float(np.median(curve.count[curve.count > 0]))
    turn = curve.turn(float(np.sqrt(share * (1 - share) / groups)))
    if turn is None or turn.z < limits["z"]:
        return None
    end = curve.mean[max(turn.at, round((1 - _EDGE) * len(curve.mean))) :]
    after = float(np.nanmean(end))
    if after < limits["share"] or after - turn.before < limits["growth"]:
        return None
    at = curve.departure(turn)
    since = dossier.since(at) & (dead == 1)
    best = _are_best(dossier)
    always = best[since & (dead == 1)]
    # what grows from little is clear in its later half
    clear = at if turn.is_jump else (at + len(curve.steps)) // 2
    effect = f"from step {int(curve.steps[at])} on the groups whose rewards are all equal grow from {fmt(100 * max(0.0, turn.before))} % to "
    effect += f"{fmt(100 * after)} %, {fmt(100 * float(always.mean()))} % of them solved always and the others never: they give no gradient"
    learned = max(float(always.mean()), _by_always(dossier, dead, best, at)) >= _LEARNED
    shown = dossier.clearest(dossier.since(clear) & (dead == 1), _newly_dead(dossier, dead, clear))
    grown, severity = after - turn.before, "note" if learned else None
    return Found.since(dossier, at, effect, "growth", grown, turn.z, shown, severity=severity)


def _are_best(dossier: Dossier) -> NDArray[np.bool_]:
    """(rows,) which rollouts have a reward nearer to the best than to the worst there is in the run."""
    rewards = dossier.number("reward")
    low, high = float(np.nanmin(rewards)), float(np.nanmax(rewards))
    return rewards > (low + high) / 2


def _by_always(dossier: Dossier, dead: Float64Array, best: NDArray[np.bool_], at: int) -> float:
    """The share of the growth since the step with that index that prompts solved always are; the others are solved never."""
    known, since = np.isfinite(dead), dossier.since(at)

    def grown(marks: NDArray[np.bool_]) -> float:
        return float(marks[known & since].mean() - marks[known & ~since].mean())

    all_of_it = grown(dead == 1)
    return grown((dead == 1) & best) / all_of_it if all_of_it > 0 else 0.0


def _newly_dead(dossier: Dossier, dead: Float64Array, at: int) -> Float64Array:
    """(rows,) how much more often the row's prompt is dead since the step with that index than it was before, by its visits."""
    units = np.unique(dossier.prompts, return_inverse=True)[1].ravel()
    since, known = dossier.since(at), np.isfinite(dead)
    size = int(units.max(initial=0)) + 1

    def share(rows: NDArray[np.bool_]) -> Float64Array:
        counts = np.bincount(units[rows], minlength=size)
        # an unseen prompt is half dead: visits speak for or against it
        return (np.bincount(units[rows], dead[rows], size) + 4) / (counts + 8)

    return (share(known & since) - share(known & ~since))[units]


KIND: Final = declared("dead_prompts", _look)
