"""Responses switch scripts, more and more: the policy falls out of the language it is asked in."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, Threshold
from board.findings.dossier import Dossier
from board.findings.spreading import clearness, percent, rise, spread, usual_most


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
    before, after = (
        f"{np.nanmean(switches[rows]):.2f}, {percent(float(other[rows].mean()))}" for rows in (~found.since, found.since)
    )
    return Found(
        effect=found.effect("mix scripts")
        + f"; switches per 100 characters, and letters that are foreign to the prompt, go from {before} to {after}",
        first_step=found.step,
        last_step=found.last_step,
        crossed="rise",
        measured=found.grown,
        strength=found.z,
        rollouts=dossier.clearest(found.since & mixing, switches + 100 * other),
    )


_LEAST: Final = 1.5
"""Switches of a response that mixes: to another script and back."""

KIND: Final = Kind(
    name="language_mixing",
    title="Responses mix languages",
    severity="warning",
    says="Responses switch languages or scripts inside or between sentences, more and more.",
    formula="Changes within a sentence from a word in one script to a word in another, per 100 characters; code, formulas, acronyms and "
    "names left out, kanji and kana one. A response mixes that has more than the threshold and than 95 of 100 had in the first steps, or of "
    "whose letters as many are in a script that the prompt has not, and some in one that it has. Share of such responses by step; its "
    "clearest rise.",
    thresholds=(
        Threshold("switches", 0.2, "switches per 100 characters", "our judgement: two in a thousand characters"),
        Threshold("letters", 0.05, "share of the letters that are foreign to the prompt", "our judgement: a sentence of twenty"),
        rise(0.1, "mix", "DeepSeek-R1 (arXiv 2501.12948) rewards one language for this; the size is our judgement"),
        clearness(),
    ),
    means="Nothing in the reward asks for one language, and thoughts drift to whatever predicts the answer.",
    looks_like="A new data source in another language, or one that asks for translation.",
    next=(("responses", "read these responses"), ("all_tokens", "see which tokens rise")),
    run=_look,
    explains=("gibberish",),
)
