"""Thinking is opened and never closed, or closed with nothing behind it: no answer follows that a reward could be of."""

from typing import Final

import numpy as np

from board.findings.answers import cut_off
from board.findings.contract import Answer, CannotTell, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, spread


def _look(dossier: Dossier, limits: Limits) -> Answer:
    thought, text = dossier.number("thought_only"), np.isfinite(dossier.number("open_thought"))
    if not np.isfinite(thought).any():
        return CannotTell("no response thinks in tags such as <think>")
    # of all responses: a tag that a few write by accident is no thinking; and what marks its answer in a thought has one
    only = np.where(text, ((thought == 1) & (dossier.number("answer_marked") != 1)).astype(np.float64), np.nan)
    found = spread(dossier, only, limits["rise"], limits["z"], at_once=limits["share"])
    if found is None:
        return None
    cut_too = np.mean(cut_off(dossier)[found.since & (only == 1)] == 1) >= _NEARLY
    return as_found(
        found,
        dossier,
        "think and give no answer",
        only == 1,
        dossier.number("response_length"),
        # thoughts that stay open just because they are cut are a sign of the limit; if many end by themselves it is the other way round
        explains=() if cut_too else None,
    )


_NEARLY: Final = 0.9
"""Share of these responses that were cut off where the limit is the cause."""

KIND: Final = declared("think_without_answer", _look)
