"""Responses switch scripts inside sentences, more and more: the policy falls out of the language it is asked in."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, Threshold
from board.findings.dossier import Dossier
from board.findings.spreading import clearness, rise, spread, usual_most


def _look(dossier: Dossier, limits: Limits) -> Answer:
    switches, characters = dossier.number("script_switches"), dossier.number("response_chars")
    if not np.isfinite(switches).any():
        return CannotTell("no rollout has a text")
    count = switches * np.fmin(np.nan_to_num(characters, nan=np.inf), 10_000.0) / 100
    usual = usual_most(dossier, switches)
    mixing = (switches >= limits["switches"]) & (switches > usual) & (count >= _LEAST)
    found = spread(dossier, np.where(np.isfinite(switches), mixing.astype(np.float64), np.nan), limits["rise"], limits["z"])
    if found is None:
        return None
    before, after = (float(np.nanmean(switches[rows])) for rows in (~found.since, found.since))
    return Found(
        effect=found.effect("mix scripts inside sentences")
        + f"; switches per 100 characters go from {before:.2f} to {after:.2f}",
        first_step=found.step,
        last_step=found.last_step,
        crossed="rise",
        measured=found.grown,
        strength=found.z,
        rollouts=dossier.clearest(found.since & mixing, switches),
    )


_LEAST: Final = 1.5
"""Switches of a response that mixes: to another script and back."""

KIND: Final = Kind(
    name="language_mixing",
    title="Responses mix languages",
    severity="warning",
    says="Responses switch languages or scripts inside sentences, more and more.",
    formula="Changes within a sentence from a word in one script to a word in another, per 100 characters; code, formulas, acronyms and "
    "names left out, kanji and kana one. A response mixes that has more than the threshold and than 95 of 100 had in the first steps. Share "
    "of such responses by step; its clearest rise.",
    thresholds=(
        Threshold("switches", 0.2, "switches per 100 characters", "our judgement: two in a thousand characters"),
        rise(0.1, "mix", "DeepSeek-R1 (arXiv 2501.12948) rewards one language for this; the size is our judgement"),
        clearness(),
    ),
    means="Nothing in the reward asks for one language, and thoughts drift to whatever predicts the answer.",
    looks_like="A new data source in another language, or one that asks for translation.",
    next=(("responses", "read these responses"), ("all_tokens", "see which tokens rise")),
    run=_look,
    explains=("gibberish",),
)
