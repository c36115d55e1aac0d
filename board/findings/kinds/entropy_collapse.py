"""Entropy falls fast, and the samples of a group become one text: nothing is explored any more, and groups give no gradient."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.findings.change_points import LEAST_AFTER
from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.series import Series
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

_EDGE: Final = 0.2
"""The share of the steps whose level is taken at the end."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    entropy, named = _entropy(dossier)
    if entropy is None:
        return CannotTell("no rollout has entropies or log-probabilities")
    curve = dossier.curve_of(dossier.like_for_like(entropy))
    turn = curve.turn()
    if turn is None or turn.z < limits["z"] or turn.change >= 0 or not turn.before > 0:
        return None
    end = _end(curve)
    fall = 1 - end / turn.before
    twins = has_twin(dossier.group_rows, dossier.number("response_digest"))
    same = dossier.curve_of(twins).turn()
    alike = same is not None and same.z >= limits["z"] and same.change >= limits["alike"]
    if fall < limits["fall with twins" if alike else "fall"]:
        return None
    # what falls in a line begins to fall early: where texts become one it is dated by whichever turns first as a jump
    both = [turn] if same is None or not alike else [turn, same]
    first = min(both, key=lambda one: (not one.is_jump, one.at))
    told = f"from step {first.step} {named} falls from {fmt(turn.before)} to {fmt(end)} nats per token"
    if same is not None and alike:
        told += f", and the share of responses with an equal in their group rises from {fmt(same.before)} to {fmt(same.after)}"
    shown = dossier.since(first.at) & ((twins == 1) | (entropy < turn.before))
    rollouts = dossier.clearest(shown, np.where(twins == 1, 1e6, 0.0) - entropy)
    crossed, severity = "fall with twins" if alike else "fall", "warning" if alike or fall >= limits["steep"] else "note"
    return Found.since(dossier, first.at, told, crossed, fall, turn.z, rollouts, severity=severity)


def _entropy(dossier: Dossier) -> tuple[Float64Array | None, str]:
    """(rows,) mean entropy per token, or what stands in for it, and its name."""
    if dossier.has("entropy_mean"):
        return dossier.number("entropy_mean"), "the entropy"
    if dossier.has("logprob_mean"):
        return -dossier.number("logprob_mean"), "the mean surprisal (a proxy of the entropy, which is not logged)"
    return None, ""


def _end(curve: Series) -> float:
    known = curve.mean[np.isfinite(curve.mean)]
    return float(known[-max(LEAST_AFTER, round(_EDGE * len(known))) :].mean())


def has_twin(groups: NDArray[np.int64], digests: Float64Array) -> Float64Array:
    """(n,) 1 where another member of the group has the same digest, 0 where none has; NaN without a digest, a group, or another member."""
    known = np.flatnonzero((groups >= 0) & np.isfinite(digests))
    found = np.full(len(groups), np.nan)
    if not len(known):
        return found
    members = np.bincount(groups[known])[groups[known]]
    pairs = np.unique(
        np.stack([groups[known].astype(np.float64), digests[known]]), axis=1, return_inverse=True, return_counts=True
    )
    found[known] = np.where(members > 1, (pairs[2][pairs[1].ravel()] > 1).astype(np.float64), np.nan)
    return found


KIND: Final = declared("entropy_collapse", _look)
