"""Responses that ended by themselves lack the end token: the policy is never trained to stop, or a loss sees a token too few."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Kind, Limits, Threshold
from board.findings.dossier import Dossier
from board.findings.limit_of_length import cut_off
from board.findings.spreading import as_found, clearness, rise, spread


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


KIND: Final = Kind(
    name="eos_missing",
    title="The end token is missing",
    severity="warning",
    says="Responses that ended by themselves lack the end token.",
    formula="Share by step of the responses not cut off whose last token, padding left out, is no end token; its clearest rise, or its "
    "level where it is high from the first step on.",
    thresholds=(
        rise(
            0.1, "ended by themselves without the end token", "our judgement: recipes of PPO penalise each one, arXiv 2403.17031"
        ),
        Threshold(
            "share",
            0.2,
            "share of such responses in the whole run, where it does not rise",
            "our judgement: fewer may be stop strings",
        ),
        clearness(),
    ),
    means="The end token is cut away before the row is written, masked, or replaced by a stop string: its probability is never trained.",
    looks_like="Stop strings, or a turn that ends with a call of a tool; a limit of length that nothing in the rows tells.",
    next=(
        ("tokens", "look at the last tokens of these responses, and their loss mask"),
        ("data", "see what else the checks say of tokens"),
    ),
    run=_look,
    needs=("response_tokens",),
)
