"""The KL to the reference grows faster and faster, or jumps: the policy runs away from where it began."""

from typing import Final

import numpy as np

from board.findings.change_points import LEAST_AFTER, LEAST_BEFORE, turn
from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

_HARMLESS: Final = 0.05
"""Nats per token that are added before growth is taken as a ratio: from 0.0001 to 0.01 nothing has happened."""
_MOST: Final = 20.0
"""Nats per token that a rollout counts for at most: k3 of one token can be millions."""
_EDGE: Final = 0.2
"""The share of the steps whose level is taken at the end, and before which a turn is the beginning of training."""
_LEAP: Final = 0.35
"""A KL that grows by such a share of its whole growth at one step leaps there."""
_AROUND: Final = 3
_STILL: Final = 1.5
"""A KL that grew from the first steps on runs away where it ends at so many times its level in the middle of the run."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    kl = np.minimum(dossier.number("kl_k3_mean"), _MOST)
    curve = dossier.curve_of(dossier.like_for_like(kl))
    known = np.flatnonzero(np.isfinite(curve.mean))
    if len(known) < LEAST_BEFORE + LEAST_AFTER:
        return CannotTell("too few steps have log-probabilities of policy and reference")
    level = np.maximum(curve.mean, 0.0)
    # growth is a ratio: on a logarithmic scale a KL that doubles again and again is a line
    logarithm = np.log(level + _HARMLESS)
    bent = turn(curve.steps, logarithm, _of_logarithm(curve.error, level))
    if bent is None or bent.change <= 0 or bent.z < limits["z"]:
        return None
    end = float(level[known[-max(LEAST_AFTER, round(_EDGE * len(known))) :]].mean())
    at = int(known[_leap(logarithm[known], _LEAP * bent.change) or np.searchsorted(known, bent.at)])
    before = float(np.nanmean(level[:at]))
    grown = (end + _HARMLESS) / (before + _HARMLESS)
    if end < limits["level"] or grown < limits["growth"] or not _runs(level[known], int(np.searchsorted(known, at)), end):
        return None
    effect = f"from step {int(curve.steps[at])} the KL to the reference grows from {fmt(before)} to {fmt(end)} nats per token"
    return Found.since(dossier, at, effect, "level", end, bent.z, dossier.clearest(dossier.since(at) & (kl > before), kl))


def _of_logarithm(errors: Float64Array, level: Float64Array) -> Float64Array:
    """Standard errors of the logarithm, by the delta method. (k,) each."""
    return errors / (level + _HARMLESS)


def _leap(logarithm: Float64Array, least: float) -> int:
    """Index of the step at which (k,) levels leap by `least` or more: medians of the three steps since against the three before; 0 for none.

    A line that begins to rise fits a leap with growth around it too, and begins long before.
    """
    if len(logarithm) < 2 * _AROUND:
        return 0
    medians = np.median(np.lib.stride_tricks.sliding_window_view(logarithm, _AROUND), axis=1)
    leaps = medians[_AROUND:] - medians[:-_AROUND]
    clear = np.flatnonzero(leaps >= least)
    # of the places around the leap, the one at which a single step rises most
    return int(clear[np.argmax(np.diff(logarithm)[clear + _AROUND - 1])]) + _AROUND if len(clear) else 0


def _runs(level: Float64Array, at: int, end: float) -> bool:
    """Whether a growth that begins at index `at` of (k,) levels is more than that of every beginning, which slows down."""
    middle = level[round(0.4 * len(level)) : max(round(0.6 * len(level)), round(0.4 * len(level)) + 1)]
    return at >= _EDGE * len(level) or end >= _STILL * float(middle.mean()) + _HARMLESS


KIND: Final = declared("kl_runaway", _look)
