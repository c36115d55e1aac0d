"""Thinking is opened and never closed, or closed with nothing behind it: no answer follows that a reward could be of."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Kind, Limits, Threshold
from board.findings.dossier import Dossier
from board.findings.limit_of_length import cut_off
from board.findings.spreading import as_found, clearness, rise, spread


def _look(dossier: Dossier, limits: Limits) -> Answer:
    thought, text = dossier.number("thought_only"), np.isfinite(dossier.number("open_thought"))
    if not np.isfinite(thought).any():
        return CannotTell("no response thinks in tags such as <think>")
    # of all responses: a tag that a few write by accident is no thinking; and what marks its answer in a thought has one
    only = np.where(text, ((thought == 1) & (dossier.number("answer_marked") != 1)).astype(np.float64), np.nan)
    found = spread(dossier, only, limits["rise"], limits["z"], at_once=limits["share"])
    if found is None:
        return None
    cut_too = np.mean(cut_off(dossier)[found.since & (only == 1)] == 1) >= _NEARLY
    return as_found(
        found,
        dossier,
        "think and give no answer",
        only == 1,
        dossier.number("response_length"),
        # thoughts that stay open just because they are cut are a sign of the limit; if many end by themselves it is the other way round
        explains=() if cut_too else None,
    )


_NEARLY: Final = 0.9
"""Share of these responses that were cut off where the limit is the cause."""

KIND: Final = Kind(
    name="think_without_answer",
    title="Thinking without an answer",
    severity="warning",
    says="Thinking is opened and never closed, so that no answer follows.",
    formula="Share by step of the responses whose last opening tag of thought (<think> and its relatives, in the prompt or the response) is not "
    "closed, or closed with nothing behind it, and which mark no answer (a box, a tag, a last sentence); its clearest rise, or its level "
    "where it is high from the first step on.",
    thresholds=(
        rise(0.05, "think and do not answer", "our judgement: one in twenty responses that cannot be right"),
        Threshold("share", 0.3, "share of such responses in the whole run, where it does not rise", "our judgement"),
        clearness(),
    ),
    means="Thoughts run into the limit of length, or the policy found that an answer does not pay.",
    looks_like="A trainer that keeps thoughts and answers in different fields; a limit of length that was lowered.",
    next=(("responses", "read the ends of these responses"), ("metrics", "compare length and truncated share")),
    run=_look,
    explains=("truncation_wave", "eos_missing"),
    needs=("response",),
    metrics=("length/mean", "length/truncated_share"),
)
