"""A share of responses ends in a loop: the same piece of text over and over until the limit."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Kind, Limits, Threshold
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, clearness, rise, spread


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


KIND: Final = Kind(
    name="repetition_loop",
    title="Responses end in a loop",
    severity="warning",
    says="A share of responses ends in a loop.",
    formula="A response loops if one piece of text, three times or more, takes a share of its last 10,000 characters at their end, or if "
    "these compress by zlib as far as slime's and Telescope's checks ask. Share of such responses by step; its clearest rise.",
    thresholds=(
        Threshold(
            "loop",
            0.15,
            "share of the response's end that is the loop",
            "our judgement: a loop of any length that pays is in the way",
        ),
        Threshold("ratio", 10.0, "compression ratio of the response's end", "slime and Telescope, which look from 10 on"),
        rise(0.05, "end in a loop", "our judgement: honest responses hardly ever do"),
        Threshold("share", 0.1, "share of such responses in the whole run, where it does not rise", "our judgement"),
        clearness(),
    ),
    means="The policy lost its way: too high a KL or learning rate, a reward that pays length, an end token unlearned.",
    looks_like="Tables, lists and data that a task asks for; a base model that was never taught to end.",
    next=(("responses", "read the ends of these responses"), ("tokens", "see where the probabilities reach 1")),
    run=_look,
    explains=(
        "truncation_wave",
        "eos_missing",
        "think_without_answer",
        "gibberish",
        "template_collapse",
        "no_learning",
        "same-response",
    ),
    metrics=("length/mean", "length/truncated_share"),
)
