"""Responses hold text that nobody writes: tokens far less likely than an even draw, letters without words, broken characters."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, spread, usual_most
from board.metrics.formulas import Float64Array

_SIGNS: Final = ("rare_tokens", "unspeakable", "odd_characters")
_MOSTLY: Final = 0.5


def _look(dossier: Dossier, limits: Limits) -> Answer:
    how_much = np.zeros(len(dossier.frame))
    known = np.zeros(len(dossier.frame), np.bool_)
    for name in _SIGNS:
        values = dossier.number(name)
        known |= np.isfinite(values)
        how_much = np.fmax(how_much, _beyond(dossier, values, limits[name]))
    if not known.any():
        return CannotTell("no rollout has a text or logprobs")
    odd = how_much > 0
    found = spread(dossier, np.where(known, odd.astype(np.float64), np.nan), limits["rise"], limits["z"])
    if found is None:
        broken = dossier.number("odd_characters")
        how_much, odd = broken, broken >= limits["odd_characters"]
        # what cannot be spoken may be a task's own from the first step on; what is broken is nobody's
        found = spread(
            dossier, np.where(np.isfinite(broken), odd.astype(np.float64), np.nan), np.inf, limits["z"], limits["share"]
        )
    if found is None:
        return None
    # another language has words that cannot be spoken, too, but no token that is far below an even draw
    rare = _beyond(dossier, dossier.number("rare_tokens"), limits["rare_tokens"]) > 0
    sure = np.mean(rare[odd & found.since]) > _MOSTLY
    explains = None if sure else tuple(one for one in KIND.explains if one != "language_mixing")
    return as_found(found, dossier, "hold text that nobody writes", odd, how_much, explains=explains)


def _beyond(dossier: Dossier, values: Float64Array, least: float) -> Float64Array:
    """(rows,) how often a value holds the least that counts, 0 where it is no more than usual in the first steps."""
    beyond = (values >= least) & (values > usual_most(dossier, values))
    return np.where(beyond, values / least, 0.0)


KIND: Final = declared("gibberish", _look)
