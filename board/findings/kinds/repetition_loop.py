"""A share of responses ends in a loop: the same piece of text over and over until the limit."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, spread


def _look(dossier: Dossier, limits: Limits) -> Answer:
    loop, ratio = dossier.number("closing_loop"), dossier.number("compression_ratio")
    if not np.isfinite(loop).any():
        return CannotTell("no rollout has a text")
    looping = (loop >= limits["loop"]) | (ratio >= limits["ratio"])
    marks = np.where(np.isfinite(loop), looping.astype(np.float64), np.nan)
    found = spread(dossier, marks, limits["rise"], limits["z"], at_once=limits["share"])
    if found is None:
        return None
    return as_found(found, dossier, "end in a loop", looping, np.fmax(loop, ratio / 1_000))


KIND: Final = declared("repetition_loop", _look)
