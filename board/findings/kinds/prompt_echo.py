"""Responses repeat their prompt word for word instead of answering it."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, percent, spread, usual_most
from board.metrics.formulas import Float64Array


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
        return _from_the_start(dossier, echo, common, limits)
    return as_found(found, dossier, "repeat a stretch of their prompt", echoing, echo)


def _from_the_start(dossier: Dossier, echo: Float64Array, common: Float64Array, limits: Limits) -> Found | None:
    """Echoes that do not grow: many responses are mostly their prompt, or say it as a whole."""
    copied = dossier.number("prompt_copied")
    mostly = ((echo >= _MOSTLY) | (copied >= _WHOLE)) & (common >= limits["characters"])
    marks = np.where(np.isfinite(echo), mostly.astype(np.float64), np.nan)
    share = float(np.nanmean(marks))
    if share < limits["always"]:
        return None
    steps = dossier.steps.of_rows[mostly]
    known = int(np.isfinite(echo).sum())
    return Found(
        effect=f"from the first step on {percent(share)} of the responses repeat the whole prompt, or are half of it",
        first_step=int(steps.min()),
        last_step=int(steps.max()),
        crossed="always",
        measured=share,
        strength=share * np.sqrt(known / max(share * (1 - share), 1 / known)),
        rollouts=dossier.clearest(mostly, echo),
        severity="note",
    )


_MOSTLY: Final = 0.5
"""The share of a response that is its prompt's where it is mostly a copy."""

_WHOLE: Final = 0.8
"""The share of a prompt that a response repeats in one piece where it repeats the whole but for a template around it."""

KIND: Final = declared("prompt_echo", _look)
