"""Controls of the Runs page, which return the choices as a frozen dataclass."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from board.analysis.compare.run_list import Grouping, Order, RunFilter
from board.ui.shared import list_order
from board.ui.state import linked

ORDERS: Final[dict[str, Order]] = {
    "last written": "written",
    "name": "name",
    "last value": "value",
    "last step": "step",
    "rollouts": "rollouts",
    "size": "size",
    "trainer": "trainer",
    "problems": "problems",
    "findings": "findings",
}


@dataclass(frozen=True)
class RunsChoices:
    """Which runs are listed, and how."""

    filter: RunFilter
    grouping: Grouping
    sort_by: Order
    descending: bool
    metric: str
    """The number whose curve and last value are shown."""


def draw(tags: Sequence[str], trainers: Sequence[str], metrics: Sequence[str], *, any_hidden: bool) -> RunsChoices:
    """Draw the choices in one row and return them. A tag, trainer or number that a link names and no run has, or none yet, stays chosen."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="runs_choices"):
        text = st.text_input("Text in name, path, tags, note", **linked.text("runs_text"), type="search", width=200)
        tag = _one_of("Tag", tags, "runs_tag", "any tag") if tags or _linked("runs_tag") else ""
        trainer = _one_of("Trainer", trainers, "runs_trainer", "any trainer") if trainers or _linked("runs_trainer") else ""
        metric = _one_of("Curve", metrics or ["reward"], "runs_metric", "reward", width=150)
        order = list_order.choice("runs_", "Order runs by", [*ORDERS], width=130)
        group = st.segmented_control("Groups", **linked.choice("runs_group", ["none", "folder", "tag"], "none"), required=True)
        live = st.toggle("Live", **linked.flag("runs_live"), help="Only runs that are training now.")
        hidden = any_hidden and st.toggle("Hidden too", **linked.flag("runs_hidden"))
    chosen = RunFilter(text or "", tag, trainer, bool(live), bool(hidden))
    grouping = cast(Grouping, "" if group == "none" else group)
    return RunsChoices(chosen, grouping, ORDERS[order.by], order.descending, metric or "reward")


def _linked(key: str) -> str:
    return str(linked.value(key))


def _one_of(label: str, options: Sequence[str], key: str, none: str, width: int = 120) -> str:
    """A choice of one, or of none, which is called `none`. Names are of runs, and a list of options shows them letter for letter."""
    linked_name = _linked(key)
    listed = list(dict.fromkeys(["", *options, *([linked_name] if linked_name else [])]))
    chosen = st.selectbox(label, **linked.choice(key, listed, label=lambda name: name or none), width=width)
    return str(chosen or "")
