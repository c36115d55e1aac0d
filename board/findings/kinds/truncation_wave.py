"""The share of responses cut off at the limit jumps: what they would have said is lost, and their rewards are of something unfinished."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Kind, Limits, Threshold
from board.findings.dossier import Dossier
from board.findings.limit_of_length import cut_off
from board.findings.spreading import as_found, clearness, rise, spread


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


KIND: Final = Kind(
    name="truncation_wave",
    title="More responses are cut off",
    severity="warning",
    says="The share of responses cut off at the limit of length jumps.",
    formula="Share of responses by step whose finish_reason is length, or which have the greatest number of tokens and no end token; "
    "like for like by data source; its clearest rise, or its level where it is high from the first step on.",
    thresholds=(
        rise(0.1, "are cut off", "our judgement: Miles warns of any share from 0.25 on, which is late for a rise"),
        Threshold(
            "share", 0.15, "share of responses cut off since", "our judgement, below Miles' 0.25, since it has to be a rise, too"
        ),
        Threshold(
            "level",
            0.25,
            "share of responses cut off in the whole run, where it does not rise: a note",
            "Miles warns from there on",
        ),
        clearness(),
    ),
    means="Responses grow towards the limit: loops, padding that pays, an end token unlearned; or the limit was lowered.",
    looks_like="Harder prompts that need longer thoughts; a limit of length that changed with a stage of training.",
    next=(
        ("responses", "read the ends of the longest responses"),
        ("metrics", "compare the length and the share of truncated responses with the reward"),
    ),
    run=_look,
    explains=("think_without_answer", "proxy_gold_gap", "template_collapse", "no_learning"),
    metrics=("length/truncated_share", "length/mean"),
)
