"""Responses that ended by themselves lack the end token: the policy is never trained to stop, or a loss sees a token too few."""

from typing import Final

import numpy as np

from board.findings.answers import cut_off
from board.findings.contract import Answer, CannotTell, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, spread


def _look(dossier: Dossier, limits: Limits) -> Answer:
    ended, cut = dossier.number("ended"), cut_off(dossier)
    stopped = np.isfinite(ended) & (cut == 0)
    if not (ended == 1).any():
        return CannotTell("no response has an end token: the trainer leaves them out, or tokens are ids")
    if not stopped.any():
        return CannotTell("no response is known to have ended by itself")
    lacks = np.where(stopped, (ended == 0).astype(np.float64), np.nan)
    found = spread(dossier, lacks, limits["rise"], limits["z"], at_once=limits["share"])
    if found is None:
        return None
    return as_found(found, dossier, "that ended by themselves lack the end token", lacks == 1)


KIND: Final = declared("eos_missing", _look)
