"""Responses switch scripts, more and more: the policy falls out of the language it is asked in."""

from dataclasses import replace
from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, percent, spread, usual_most
from board.text.format_number import fmt


def _look(dossier: Dossier, limits: Limits) -> Answer:
    switches, characters = dossier.number("script_switches"), dossier.number("response_chars")
    # of a text that is in another script as a whole no letter is in the lesser one
    other = np.nan_to_num(np.minimum(dossier.number("foreign_script"), dossier.number("minor_scripts")))
    if not np.isfinite(switches).any():
        return CannotTell("no rollout has a text")
    count = switches * np.fmin(np.nan_to_num(characters, nan=np.inf), 10_000.0) / 100
    usual = usual_most(dossier, switches)
    mixing = (switches >= limits["switches"]) & (switches > usual) & (count >= _LEAST)
    mixing |= other >= limits["letters"]
    found = spread(dossier, np.where(np.isfinite(switches), mixing.astype(np.float64), np.nan), limits["rise"], limits["z"])
    if found is None:
        return None
    turns, letters = ([float(np.nanmean(of[rows])) for rows in (~found.since, found.since)] for of in (switches, other))
    more = f"; letters that are foreign to the prompt go from {percent(letters[0])} to {percent(letters[1])}"
    # of two numbers that tell of mixing the one that changed, each by what it is judged by
    if (turns[1] - turns[0]) / limits["switches"] > (letters[1] - letters[0]) / limits["letters"]:
        more = f"; switches per 100 characters go from {fmt(turns[0])} to {fmt(turns[1])}"
    told = as_found(found, dossier, "mix scripts", mixing, switches + 100 * other)
    return replace(told, effect=told.effect + more)


_LEAST: Final = 1.5
"""Switches of a response that mixes: to another script and back."""

KIND: Final = declared("language_mixing", _look)
