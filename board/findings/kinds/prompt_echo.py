"""Responses repeat their prompt word for word instead of answering it."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, spread, usual_most


def _look(dossier: Dossier, limits: Limits) -> Answer:
    echo, copied, characters = (dossier.number(name) for name in ("prompt_echo", "prompt_copied", "response_chars"))
    if not np.isfinite(echo).any():
        return CannotTell("no rollout has a prompt and a response of some length")
    common = echo * np.fmin(np.nan_to_num(characters, nan=np.inf), 10_000.0)
    much = (echo >= limits["echo"]) & (echo > usual_most(dossier, echo))
    most = (copied >= limits["copied"]) & (copied > usual_most(dossier, copied))
    echoing = (much | most) & (common >= limits["characters"])
    found = spread(dossier, np.where(np.isfinite(echo), echoing.astype(np.float64), np.nan), limits["rise"], limits["z"])
    if found is None:
        mostly = ((echo >= _MOSTLY) | (copied >= _WHOLE)) & (common >= limits["characters"])
        always = spread(dossier, np.where(np.isfinite(echo), mostly.astype(np.float64), np.nan), np.inf, 0.0, limits["always"])
        what = "repeat the whole prompt, or are half of it"
        return None if always is None else as_found(always, dossier, what, mostly, echo, "always", severity="note")
    return as_found(found, dossier, "repeat a stretch of their prompt", echoing, echo)


_MOSTLY: Final = 0.5
"""The share of a response that is its prompt's where it is mostly a copy."""
_WHOLE: Final = 0.8
"""The share of a prompt that a response repeats in one piece where it repeats the whole but for a template around it."""

KIND: Final = declared("prompt_echo", _look)
