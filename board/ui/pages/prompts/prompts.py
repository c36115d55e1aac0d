"""Prompts: which were learned, forgotten or never solved, and what changed in one?"""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from board.analysis.prompts import cohort_conditions, cohorts
from board.analysis.prompts.cohorts import COHORTS, LOSING, NONE, CohortRule
from board.analysis.prompts.prompt_list import counts, ids, listing, of_cohort, ordered, text_column, with_text
from board.analysis.prompts.prompt_visits import leaderboard, visits
from board.analysis.rollouts.selection import page, pages
from board.errors import FieldMissing
from board.figures.step_panels import NAMES, cohorts_panel, losing_panel
from board.sql import chips
from board.text.counting import plural
from board.ui.components.curves import Card, CurvesPayload, build
from board.ui.frame import findings_watch
from board.ui.pages.prompts import detail as prompt_detail
from board.ui.pages.prompts import table as prompt_table
from board.ui.pages.prompts.controls import ORDERS, PromptChoices, draw, rule_text
from board.ui.shared.controls import step_curves
from board.ui.shared.messages import absent, in_line, unfilled
from board.ui.shared.progress_line import progress
from board.ui.state import caches, filter_chips, linked, place

CURVES = "prompt_curves"
"""Key of the curves."""
PLOT_HEIGHT = 170
PAGE_PROMPTS = 100
"""So many prompts are listed at once."""

view = caches.with_step(place.view())
run, step = view.run, view.step
missing: list[str] = []
"""What the run cannot show, and what it needs."""


def judged(visited: pd.DataFrame, board: pd.DataFrame, rule: CohortRule) -> pd.DataFrame:
    """All prompts with their numbers and cohorts, made once for all readers."""
    return caches.cached("prompt_list", lambda: listing(board, cohorts.cohorts(visited, rule)), run, *chosen_rule(rule))


def chosen_rule(rule: CohortRule) -> tuple[float, ...]:
    """What tells one rule from another."""
    return rule.solved, rule.ends, rule.lost, rule.of


def over_steps(visited: pd.DataFrame, rule: CohortRule) -> None:
    """The share of each cohort, and of those that lose, by step."""
    payload = caches.cached("prompts curves", lambda: built(visited, rule), run, *chosen_rule(rule))
    missing.extend(payload.missing)
    if payload.keys:
        step_curves(payload, CURVES, run.steps)


def built(visited: pd.DataFrame, rule: CohortRule) -> CurvesPayload:
    """What is sent of the curves that the run can fill."""
    cards, unmade, of = [], [], [(visited, run.steps)]
    if run is not view.unfiltered:
        of.append((caches.cached("prompt_visits", lambda: visits(view.unfiltered), view.unfiltered), view.unfiltered.steps))
    if np.isfinite(rule.solved):
        with suppress(FieldMissing):
            cards.append(Card("cohorts", cohorts_panel(*(cohorts.by_step(one, rule, steps) for one, steps in of))))
    if visited["gap"].notna().any():
        with suppress(FieldMissing):
            cards.append(Card(LOSING, losing_panel(*(cohorts.losing_by_step(one, rule, steps) for one, steps in of))))
    else:
        unmade.append("Prompts that stay below the reference need ref_reward")
    span = (int(run.steps[0]), int(run.steps[-1]))
    return replace(build(cards, span=span, height=PLOT_HEIGHT, columns=max(1, len(cards))), missing=tuple(unmade))


def found_by(listed: pd.DataFrame, choices: PromptChoices) -> NDArray[np.int64]:
    """The keys of the prompts that a list of these choices holds, in its order, found once."""
    return caches.cached(
        "prompts",
        lambda: listed_keys(listed, choices),
        run,
        choices.cohort,
        choices.query,
        choices.order.by,
        choices.order.descending,
        *chosen_rule(choices.rule),
    )


def listed_keys(listed: pd.DataFrame, choices: PromptChoices) -> NDArray[np.int64]:
    """The keys of the listed prompts in order, computed without the cache."""
    mask = of_cohort(listed, choices.cohort)
    if choices.query:
        mask &= with_text(run, listed, choices.query)
    return ordered(listed, mask, choices.order.by, descending=choices.order.descending)


def summary(listed: pd.DataFrame, keys: NDArray[np.int64], choices: PromptChoices) -> str:
    """One line on what is listed, and of what."""
    numbers = counts(listed)
    parts = [f"{plural(len(listed), 'prompt')} over {plural(len(run.steps), 'step')}"]
    if several := sum(numbers[name] for name in COHORTS):
        parts += [f"{numbers[name]:,} {NAMES[name]}" for name in COHORTS]
        if several < len(listed):
            parts.append(f"{numbers['']:,} rewarded at fewer than two steps")
    if numbers[LOSING]:
        parts.append(f"{numbers[LOSING]:,} losing")
    if choices.query:
        parts.append(f"{len(keys):,} listed, with {choices.query!r} in the prompt")
    elif choices.cohort:
        parts.append(f"{len(keys):,} listed")
    return " · ".join(parts)


def overview(visited: pd.DataFrame, listed: pd.DataFrame, keys: NDArray[np.int64], choices: PromptChoices) -> None:
    """The list, a page at a time."""
    order = f"by {ORDERS[choices.order.by]}, {'descending' if choices.order.descending else 'ascending'}"
    count = pages(len(keys), PAGE_PROMPTS)
    st.text(" · ".join([summary(listed, keys, choices), *([] if count > 1 else [order])]))
    if (choices.cohort or choices.query) and len(keys):
        taken_away(listed, keys, choices)
    if not len(keys):
        st.text("No prompt matches: change the text or the cohort.")
        return
    with in_line():
        number = st.pagination(count, **linked.page("prompt_page", count)) if count > 1 else 1
        shown = page(keys, number, PAGE_PROMPTS)
        if count > 1:
            first = (number - 1) * PAGE_PROMPTS
            st.text(f"Prompts {first + 1:,} to {first + len(shown):,} of {len(keys):,}, {order}.")
    key = f"prompts_{run.load_id}_{number}_{hash(choices)}"
    prompt_table.draw(run, visited, listed.loc[pd.Index(shown)], choices, key)


def taken_away(listed: pd.DataFrame, keys: NDArray[np.int64], choices: PromptChoices) -> None:
    """Actions on the prompts that were selected: filter every page by them, save their ids."""
    name = f"{run.name}-{choices.cohort or 'prompts'}"
    with in_line("prompts_taken"):
        filter_chips.offer("Filter: these prompts", condition(keys, choices), "cohort_chip")
        st.download_button(
            "Ids as JSON",
            lambda: ids(run, listed, keys).to_json(orient="records", force_ascii=False, indent=1),
            f"{name}.json",
            "application/json",
            key="cohort_json",
            type="tertiary",
            on_click="ignore",
        )
        st.download_button(
            "Ids as CSV",
            lambda: ids(run, listed, keys).to_csv(index=False),
            f"{name}.csv",
            "text/csv",
            key="cohort_csv",
            type="tertiary",
            on_click="ignore",
        )


def condition(keys: NDArray[np.int64], choices: PromptChoices) -> str:
    """What holds of the rollouts of the listed prompts: a few are named, of more the rule is written, among what the filter leaves."""
    if len(keys) <= cohort_conditions.FEW:
        return cohort_conditions.of_prompts(keys.tolist())
    within = chips.condition(filter_chips.chips()).replace("\n", " ")
    parts = [cohort_conditions.of_cohort(choices.cohort, choices.rule, within)] if choices.cohort else []
    if choices.query:
        parts.append(cohort_conditions.with_text(text_column(run) or "prompt", choices.query))
    return " AND ".join(parts)


def once(listed: pd.DataFrame, *, rewarded: bool, known: bool) -> None:
    """One line where nothing can be compared over training."""
    if not rewarded:
        missing.append("What became of the prompts needs reward")
    elif len(run.steps) == 1:
        st.text("The run has one step: no prompt has a second step to be compared with.")
    elif known and (listed["cohort"] == NONE).all():
        st.text("No prompt was rewarded at two steps: there is nothing to compare over training.")


def body(visited: pd.DataFrame, board: pd.DataFrame) -> None:
    """The opened prompt, or all of them."""
    rewarded, compared = bool(board["reward"].notna().any()), bool(board["gap"].notna().any())
    several = rewarded and bool((board["visits"] > 1).any())
    orders = tuple(name for name in ORDERS if board[name].notna().any())
    choices = draw(view.unfiltered, cohorts=several, losing=compared and several, orders=orders)
    listed = judged(visited, board, choices.rule)
    keys, prompt = found_by(listed, choices), place.part("prompt")
    if isinstance(prompt, int) and prompt in listed.index:
        facts = listed.loc[[prompt]].iloc[0]
        missing.extend(prompt_detail.draw(view, prompt, facts, keys, ("", *COHORTS)[int(facts["cohort"]) - NONE]))
        return
    if several:
        st.caption(rule_text(choices.rule, losing=compared))  # our own words and numbers: a caption reads Markdown
        over_steps(visited, choices.rule)
    once(listed, rewarded=rewarded, known=not several or bool(np.isfinite(choices.rule.solved)))
    overview(visited, listed, keys, choices)


with progress(f"Comparing the prompts of {plural(len(run.frame), 'rollout')}") as report:
    seen = caches.cached("prompt_visits", lambda: visits(run, report), run)
    prompts = caches.cached("prompt_board", lambda: leaderboard(seen), run)
if prompts.empty:
    absent("Following prompts over training", "prompt or prompt_id")
else:
    body(seen, prompts)
unfilled(missing)
findings_watch.on_curves()
