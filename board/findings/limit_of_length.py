"""Which responses were cut off at a limit of length, said by the trainer or told by their length. Knows no kind."""

from typing import Final

import numpy as np

from board.findings.dossier import Dossier
from board.metrics.formulas import Float64Array

LEAST_AT_LIMIT: Final = 5
"""So many responses of one greatest length make it a limit: among free lengths the greatest is met once."""

_SHARE: Final = 0.005
"""And so large a share of the responses without an end token."""


def cut_off(dossier: Dossier) -> Float64Array:
    """(rows,) 1 where a response was cut off, 0 where not, NaN where that cannot be told.

    What the trainer says (`cut_off` of text health) comes first. Else a response is cut that has the greatest number of tokens which any has
    without an end token, if several have: T = limit, and no end token. Where no response of the run has an end token, trainers leave it
    out, and the length alone tells.
    """
    said = dossier.number("cut_off")
    length, ended = dossier.number("response_length"), dossier.number("ended")
    unended = np.isfinite(length) & ~(ended == 1)
    found = np.where(np.isfinite(length), 0.0, np.nan)
    if unended.any():
        limit = length[unended].max()
        at = unended & (length == limit)
        beyond = np.isfinite(length) & (length > limit)
        if at.sum() >= max(LEAST_AT_LIMIT, _SHARE * unended.sum()) and not beyond.any():
            found[at] = 1.0
        elif (ended == 1).any():
            found[unended] = np.nan  # neither ended nor at a limit that all have: a limit of another kind, or no end token
    return np.where(np.isfinite(said), said, found)
