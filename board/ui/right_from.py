"""From which reward on a response is right: the same on every page, and asked for where the rewards do not tell it. Draws only."""

from typing import Final

import numpy as np
import streamlit as st

from board.analysis.groups import obvious_threshold
from board.analysis.step_stats import finite_values
from board.runs.run import Run
from board.text.format_number import fmt
from board.ui import linked

ASK: Final = (
    "Rewards have more than two values: say from which one on a response is right, in “Right from a reward of”. "
    "Until then nothing is drawn that counts right ones."
)


def draw(run: Run) -> float:
    """Draw the field and return the threshold for a run, all of it that is unfiltered; NaN where the reader has to say it, or has no rewards."""
    rewards = finite_values(run.frame, "reward") if "reward" in run.frame.columns else np.empty(0)
    usual = obvious_threshold(rewards)
    given = st.number_input(
        "Right from a reward of",
        **linked.number("right_from", None),
        value=None,
        placeholder="" if np.isnan(usual) else fmt(usual),
        width=170,
        disabled=not np.isfinite(rewards).any(),
        help="A response is right when its reward is at least this, a prompt solved at a step when its mean reward there is. Unless you give a "
        "number: half-way between the two values that rewards have; where they have more, nothing is.",
    )
    return usual if given is None else float(given)
