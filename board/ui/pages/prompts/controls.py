"""Controls of the Prompts page, and the rule that they make, in words."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st

from board.analysis.prompts.cohorts import COHORTS, LOSING, CohortRule
from board.figures.step_panels import NAMES
from board.runs.run import Run
from board.text.counting import plural
from board.text.format_number import fmt
from board.ui.shared import list_order, right_from
from board.ui.shared.list_order import ListOrder
from board.ui.state import linked

ALL: Final = "All"

PREFIX: Final = "prompt_"
"""Of the keys of what orders the list."""

ORDERS: Final = {
    "gain": "gain",
    "reward": "mean reward",
    "first": "first step",
    "last": "last step",
    "variance": "variance",
    "gap": "gap to the reference",
    "wins": "win share",
    "length": "length",
    "visits": "steps",
    "rollouts": "rollouts",
    "last_seen": "last seen",
}
"""What prompts can be ordered by, and what it is called."""

ENDS, LOST, OF = 2, 3, 5
"""Of the rule to begin with: visits at either end, and below the reference in so many of the last so many."""


@dataclass(frozen=True)
class PromptChoices:
    """Which prompts are listed, how, and how they are judged."""

    rule: CohortRule
    cohort: str
    """One of COHORTS or LOSING; empty for all prompts."""
    query: str
    order: ListOrder
    """By one of ORDERS."""


def draw(run: Run, *, cohorts: bool, losing: bool, orders: tuple[str, ...]) -> PromptChoices:
    """Draw the choices in one row and return them: `run` is all of it that is unfiltered, `orders` what can be ordered by.

    `cohorts` and `losing` are whether the run can tell them.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", key="prompt_choices"):
        solved = right_from.draw(run) if cohorts else np.nan
        cohort = _cohort(cohorts=bool(np.isfinite(solved)), losing=losing)
        query = st.text_input("Text in the prompt", **linked.text("prompt_text"), type="search", width=220)
        with st.popover("Order"):
            order = list_order.choice(PREFIX, "Order prompts by", orders, heading=ORDERS.__getitem__)
        rule = _rule(solved, losing=losing) if cohorts or losing else CohortRule(solved, ENDS, LOST, OF)
    return PromptChoices(rule, cohort, query, order)


def _cohort(*, cohorts: bool, losing: bool) -> str:
    """Draw the choice of a cohort, of those that the run can tell."""
    names = [*(COHORTS if cohorts else ()), *([LOSING] if losing else [])]
    if not names:
        return ""
    labels = {label(name): name for name in names}
    chosen = st.segmented_control("Prompts", **linked.choice("cohort", [ALL, *labels], ALL), required=True, wrap=True)
    return str(labels.get(chosen or ALL, ""))


def label(cohort: str) -> str:
    """What a cohort is called in a list of choices."""
    return NAMES[cohort].capitalize()


def _rule(solved: float, *, losing: bool) -> CohortRule:
    """Draw the thresholds, folded."""
    with st.popover("Rule"):
        ends = st.number_input("Steps at either end", **linked.number("cohort_ends", ENDS, 1, 100))
        if not losing:
            return CohortRule(solved, int(ends), LOST, OF)
        of = int(st.number_input("Losing: of the last steps", **linked.number("losing_of", OF, 1, 1_000)))
        lost = st.number_input("Losing: at least below the reference", **linked.number("losing_lost", LOST, 1, 1_000))
    return CohortRule(solved, int(ends), min(int(lost), of), of)


def rule_text(rule: CohortRule, *, losing: bool) -> str:
    """The rule in words."""
    first, last = ("step was not", "one was") if rule.ends == 1 else (f"{rule.ends} steps were not", f"{rule.ends} were")
    halves = "" if rule.ends == 1 else f" (of fewer than {2 * rule.ends} steps, each half of them)"
    parts = (
        [right_from.ASK]
        if np.isnan(rule.solved)
        else [
            f"Of a prompt count the steps that sampled it; one is solved when its mean reward is {fmt(rule.solved)} or more.",
            f"Learned: its first {first} solved, its last {last}{halves}. Forgotten: the reverse. Flipping: any other mix.",
        ]
    )
    if losing:
        parts.append(f"Losing: mean reward − ref_reward below zero in {rule.lost} or more of its last {plural(rule.of, 'step')}.")
    return " ".join(parts)
