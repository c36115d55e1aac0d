"""Responses repeat their prompt word for word instead of answering it."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, Threshold
from board.findings.dossier import Dossier
from board.findings.spreading import as_found, clearness, percent, rise, spread, usual_most
from board.metrics.formulas import Float64Array


def _look(dossier: Dossier, limits: Limits) -> Answer:
    echo, copied, characters = (dossier.number(name) for name in ("prompt_echo", "prompt_copied", "response_chars"))
    if not np.isfinite(echo).any():
        return CannotTell("no rollout has a prompt and a response of some length")
    common = echo * np.fmin(np.nan_to_num(characters, nan=np.inf), 10_000.0)
    much = (echo >= limits["echo"]) & (echo > usual_most(dossier, echo))
    most = (copied >= limits["copied"]) & (copied > usual_most(dossier, copied))
    echoing = (much | most) & (common >= limits["characters"])
    found = spread(dossier, np.where(np.isfinite(echo), echoing.astype(np.float64), np.nan), limits["rise"], limits["z"])
    if found is None:
        return _from_the_start(dossier, echo, common, limits)
    return as_found(found, dossier, "repeat a stretch of their prompt", echoing, echo)


def _from_the_start(dossier: Dossier, echo: Float64Array, common: Float64Array, limits: Limits) -> Found | None:
    """Echoes that do not grow: many responses are mostly their prompt, or say it as a whole."""
    copied = dossier.number("prompt_copied")
    mostly = ((echo >= _MOSTLY) | (copied >= _WHOLE)) & (common >= limits["characters"])
    marks = np.where(np.isfinite(echo), mostly.astype(np.float64), np.nan)
    share = float(np.nanmean(marks))
    if share < limits["always"]:
        return None
    steps = dossier.steps.of_rows[mostly]
    known = int(np.isfinite(echo).sum())
    return Found(
        effect=f"from the first step on {percent(share)} of the responses repeat the whole prompt, or are half of it",
        first_step=int(steps.min()),
        last_step=int(steps.max()),
        crossed="always",
        measured=share,
        strength=share * np.sqrt(known / max(share * (1 - share), 1 / known)),
        rollouts=dossier.clearest(mostly, echo),
        severity="note",
    )


_MOSTLY: Final = 0.5
"""The share of a response that is its prompt's where it is mostly a copy."""

_WHOLE: Final = 0.8
"""The share of a prompt that a response repeats in one piece where it repeats the whole but for a template around it."""

KIND: Final = Kind(
    name="prompt_echo",
    title="Responses repeat their prompt",
    severity="warning",
    says="Responses repeat their prompt word for word, more and more, or many of them from the first step on.",
    formula="Longest stretch of the response that stands in its prompt, as a share of the response, or of the prompt. A response echoes that "
    "has more of either than its threshold, and than 95 of 100 had in the first steps. Share of such responses by step; its clearest rise. "
    "Without one: the share of responses at least half of which is the prompt's, or which repeat 0.8 of the prompt in one piece.",
    thresholds=(
        Threshold("echo", 0.2, "share of the response that is the prompt's", "our judgement: a question quoted is less"),
        Threshold(
            "copied", 0.5, "share of the prompt that the response repeats in one piece", "our judgement: most of what was asked"
        ),
        Threshold("characters", 32.0, "characters of the stretch", "our judgement: less is a turn of phrase"),
        rise(0.1, "echo", "our judgement"),
        Threshold(
            "always",
            0.2,
            "share of responses that repeat the whole prompt, or half of which is the prompt's, from the first step on: a note",
            "our judgement",
        ),
        clearness(),
    ),
    means="The reward pays what stands in the prompt: words of the question, the expected form, the answer itself.",
    looks_like="Tasks that ask for a copy: editing, translation of names, code to complete.",
    next=(("responses", "read response and prompt side by side"), ("search", "look for the stretch")),
    run=_look,
    explains=("proxy_gold_gap", "length_exploitation", "phrase_exploit", "format_only_wins"),
)
