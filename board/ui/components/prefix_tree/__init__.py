"""Responses that begin alike as a tree: a row per common text, which unfolds.

A click goes to the text. Model text travels as JSON and reaches the page as text nodes.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import streamlit as st

from board.figures.theme import COLORS
from board.serving import component_scripts

_tree: Final = st.components.v2.component(
    "rl_logging_board.prefix_tree",
    js=component_scripts.of("prefix_tree/prefix_tree.js"),
    css=component_scripts.style("prefix_tree/prefix_tree.css"),
)


@dataclass(frozen=True)
class TreeRow:
    """A node of the tree. All texts are shown letter for letter."""

    parent: int
    """Its row in the list; -1 of the root. Parents stand before their branches."""
    text: str
    """What its members have in common here; empty where that is nothing."""
    length: str
    """How long that is, in words."""
    count: str
    """How many members there are, in words."""
    mean: str
    """Their mean reward; empty without one."""
    place: float | None
    """Where that lies between the least (0) and the largest (1) reward of the group."""
    told: str
    """What is to be said of the fork at its end; empty where there is none."""
    marked: bool
    """Whether it is a fork where reward differs most."""


def show(rows: Sequence[TreeRow], *, key: str, height: int, on_click: Callable[[], None]) -> None:
    """Draw the tree in a pane of at most `height` pixels; what is marked is unfolded from the start.

    After a click on a row's text, or Enter on it, the component of that key has the row as `clicked`, and `on_click` is called. Within one
    page `key` belongs to one tree.
    """
    data = {"rows": [asdict(row) for row in rows], "height": height, "color": COLORS["policy"]}
    _tree(key=key, data=data, on_clicked_change=on_click)
