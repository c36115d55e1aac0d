"""The reward from which a response is right: one for all pages, with its field."""

import math
from typing import Final

import numpy as np
import streamlit as st

from board.analysis.rollouts.groups import obvious_threshold
from board.analysis.steps.step_stats import finite_values
from board.errors import BoardError
from board.metrics.formulas import Float64Array
from board.runs.run import Run
from board.settings import run_choices
from board.text.format_number import fmt
from board.ui.shared.messages import notice
from board.ui.state import link_texts, place

ASK: Final = (
    "Rewards have more than two values: say from which one on a response is right, in “Success threshold”. "
    "Until then nothing is drawn that counts right ones."
)

FIELD: Final = "right_from_field"


def draw(run: Run) -> float:
    """Draw the field and return the threshold for a run, all of it that is unfiltered; NaN where the reader has to say it, or has no rewards.

    What the link says counts first, then what was last said for this run, then what its rewards tell.
    """
    rewards = finite_values(run.frame, "reward") if "reward" in run.frame.columns else np.empty(0)
    usual, linked = _usual(run, rewards), link_texts.number(str(place.part("right_from") or ""))
    if place.widget_value(FIELD) != linked:
        place.set_widgets(**{FIELD: linked})

    def changed() -> None:
        said = place.widget_value(FIELD)
        place.go(right_from=None if said is None else link_texts.number_text(said))
        try:
            run_choices.save_right_reward(run.location, said)
        except BoardError as error:
            place.remember(right_from_problem=str(error))

    st.number_input(
        "Success threshold",
        key=FIELD,
        on_change=changed,
        value=None,
        placeholder="" if math.isnan(usual) else fmt(usual),
        width=170,
        disabled=not np.isfinite(rewards).any(),
        help="A response is right when its reward is at least this, a prompt solved at a step when its mean reward there is. What you give is "
        "saved in your settings for this run, until you empty the field. Unless you give a number: half-way between the two values that "
        "rewards have; where they have more, nothing is.",
    )
    if problem := place.remembered("right_from_problem"):
        notice(str(problem), "error")
        place.remember(right_from_problem=None)
    return usual if linked is None else linked


def _usual(run: Run, rewards: Float64Array) -> float:
    """What counts where the link says nothing."""
    try:
        said = run_choices.right_reward(run.location)
    except BoardError as error:
        place.remember(right_from_problem=str(error))
        said = math.nan
    return obvious_threshold(rewards) if math.isnan(said) else said
