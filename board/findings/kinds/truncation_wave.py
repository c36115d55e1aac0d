"""The share of responses cut off at the limit jumps: what they would have said is lost, and their rewards are of something unfinished."""

from typing import Final

import numpy as np

from board.findings.answers import cut_off
from board.findings.contract import Answer, CannotTell, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, spread


def _look(dossier: Dossier, limits: Limits) -> Answer:
    cut = cut_off(dossier)
    found = spread(dossier, cut, limits["rise"], limits["z"], limits["level"])
    if found is None:
        return None if (cut >= 0).any() else CannotTell("no rollout says why it ended, or has tokens")
    if found.after < limits["share"]:
        return None
    rises = bool(np.isfinite(found.before))
    return as_found(
        found,
        dossier,
        "are cut off at the limit of length",
        cut == 1,
        dossier.number("response_length"),
        at_once="level",
        severity=None if rises else "note",
        explains=None if rises else (),
        title="" if rises else "Many responses are cut off, from the first step on",
    )


KIND: Final = declared("truncation_wave", _look)
