"""Prompts hold the expected answer: what is rewarded is reading, not solving."""

from typing import Final

import numpy as np

from board.findings.contract import Answer, CannotTell, Found, Kind, Limits
from board.findings.dossier import Dossier
from board.findings.spreading import Spread, clearness, rise, spread
from board.metrics.formulas import Float64Array


def _look(dossier: Dossier, limits: Limits) -> Answer:
    given, told = dossier.number("answer_in_prompt"), dossier.number("answer_told")
    if not np.isfinite(given).any():
        return CannotTell("no rollout has a prompt and a ground truth short enough to look for")
    both: list[tuple[Spread, Float64Array]] = [
        (found, marks) for marks in (told, given) if (found := spread(dossier, marks, limits["rise"], limits["z"])) is not None
    ]
    if not both:
        return None
    found, marks = max(both, key=lambda one: one[0].z)
    return Found(
        effect=found.effect("are to prompts that hold the expected answer"),
        first_step=found.step,
        last_step=found.last_step,
        crossed="rise",
        measured=found.grown,
        strength=found.z,
        rollouts=dossier.clearest(found.since & (marks == 1), np.nan_to_num(told) + np.nan_to_num(given)),
    )


KIND: Final = Kind(
    name="answer_leak",
    title="Prompts hold the answer",
    severity="warning",
    says="Prompts hold the expected answer, more than they did.",
    formula="Share by step of the rollouts whose ground truth, a number or word of its own, stands in the prompt, and of those where it "
    "stands behind a word like answer or solution; the clearest rise of either. Short answers stand in prompts by chance, choices always: "
    "therefore a rise, like for like by data source.",
    thresholds=(rise(0.1, "are to prompts with the answer", "our judgement"), clearness()),
    means="The template of prompts, a few-shot example or retrieved text gives the ground truth away.",
    looks_like="Another kind of task whose answer stands in the text that is asked about.",
    next=(("responses", "read the prompts of these rollouts"), ("search", "look for the ground truth in prompts")),
    run=_look,
    needs=("ground_truth", "prompt"),
    explains=("reward_saturated", "proxy_gold_gap", "prompt_echo", "dead_prompts"),
)
