"""Controls of the Groups page, which return the choices as a frozen dataclass."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st

from board.metrics.group_statistics import MOST_K
from board.runs.run import Run
from board.ui.shared import list_order, right_from
from board.ui.shared.list_order import ListOrder
from board.ui.state import linked

ORDERS: Final = {
    "group": "number",
    "gap": "best − mean",
    "std": "spread (std)",
    "mean": "mean",
    "best": "best",
    "pass_at_k": "pass@k",
    "right": "right",
    "rollouts": "rollouts",
    "kind": "kind",
}
"""What groups can be ordered by, and what it is called."""

GROUPS: Final = "Groups of the step"
ADVANTAGES: Final = "Which rule made the advantages?"
NOISE: Final = "Does the verifier contradict itself?"
ASPECTS: Final = (GROUPS, ADVANTAGES, NOISE)

OF_RIGHT: Final = ("right", "pass_at_k", "kind")
"""Columns without a meaning while the reward from which a response is right is not set."""

PREFIX: Final = "group_"
"""Of the keys of what orders the list."""

USUAL_ORDER: Final = "std"
USUAL_K: Final = 4


@dataclass(frozen=True)
class GroupChoices:
    """How groups are judged and ordered."""

    threshold: float
    """A response with at least this reward is right; NaN if it is not set."""
    k: int
    order: ListOrder
    """By one of ORDERS."""


def draw(run: Run, largest: int) -> GroupChoices:
    """Draw the choices in one row and return them; `run` is all of it that is unfiltered, `largest` the size of a group."""
    most = max(1, min(largest, MOST_K))
    with st.container(horizontal=True, vertical_alignment="bottom", key="group_choices"):
        threshold = right_from.draw(run)
        k = st.number_input(
            "k of pass@k",
            **linked.number("pass_k", min(USUAL_K, most), 1, most),
            width=120,
            help="The chance that one of k responses to the prompt is right: 1 − C(n − c, k) / C(n, k), of n responses c right, without "
            "bias (Chen et al. 2021).",
        )
        orders = [name for name in ORDERS if not (np.isnan(threshold) and name in OF_RIGHT)]
        order = list_order.choice(PREFIX, "Order groups by", orders, usual=USUAL_ORDER, heading=ORDERS.__getitem__, width=170)
    return GroupChoices(threshold, int(k), order)


def aspect() -> str:
    """Draw the choice of what is shown of the groups, and return it: one of ASPECTS."""
    chosen = st.segmented_control("Show", **linked.choice("groups_show", ASPECTS), required=True, label_visibility="collapsed")
    return chosen or GROUPS
