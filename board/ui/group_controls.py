"""What the reader chooses on the Groups page, as a frozen dataclass. Draws controls only; computes and loads nothing."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st

from board.metrics.pass_at_k import MOST_K
from board.text.format_number import fmt
from board.ui import linked, list_order
from board.ui.list_order import ListOrder

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

PREFIX: Final = "group_"
"""Of the keys of what orders the list."""

USUAL_ORDER: Final = "std"
USUAL_K: Final = 4


@dataclass(frozen=True)
class GroupChoices:
    """How groups are judged and ordered."""

    threshold: float
    """A response with at least this reward is right; NaN where no rollout has a reward."""
    k: int
    order: ListOrder
    """By one of ORDERS."""


def draw(usual: float, largest: int) -> GroupChoices:
    """Draw the choices in one row and return them; `usual` is the threshold unless the reader gives one, `largest` the size of a group."""
    most = max(1, min(largest, MOST_K))
    with st.container(horizontal=True, vertical_alignment="bottom", key="group_choices"):
        given = st.number_input(
            "Right from a reward of",
            **linked.number("right_from", None),
            value=None,
            placeholder=fmt(usual),
            width=170,
            disabled=bool(np.isnan(usual)),
            help="A response is right when its reward is at least this. Unless you give a number: 0.5 where all rewards lie from 0 to 1, "
            "else half-way between the least and the largest.",
        )
        k = st.number_input(
            "k of pass@k",
            **linked.number("pass_k", min(USUAL_K, most), 1, most),
            width=120,
            help="The chance that one of k responses to the prompt is right: 1 − C(n − c, k) / C(n, k), of n responses c right, without "
            "bias (Chen et al. 2021).",
        )
        order = list_order.choice(PREFIX, "Order groups by", [*ORDERS], usual=USUAL_ORDER, heading=ORDERS.__getitem__, width=170)
    return GroupChoices(usual if given is None else float(given), int(k), order)


def aspect() -> str:
    """Draw the choice of what is shown of the groups, and return it: one of ASPECTS."""
    chosen = st.segmented_control("Show", **linked.choice("groups_show", ASPECTS), required=True, label_visibility="collapsed")
    return chosen or GROUPS
