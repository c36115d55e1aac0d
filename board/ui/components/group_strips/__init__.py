"""Draws groups as strips, a row each: a dot per member, further right the larger its reward, larger the longer it is. A click opens a group.

Knows nothing of where groups come from or where the choice is kept.
"""

from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st

from board.figures.theme import COLORS
from board.serving import component_scripts
from board.ui.components.group_strips.payload import MOST_DOTS, Strip, build

__all__ = ["MOST_DOTS", "Strip", "build", "show"]

_strips: Final = st.components.v2.component(
    "rl_logging_board.group_strips",
    js=component_scripts.of("group_strips/group_strips.js"),
    css=component_scripts.style("group_strips/group_strips.css"),
)


def show(
    strips: Sequence[Strip], *, threshold: float, chosen: int | None, key: str, height: int, on_click: Callable[[], None]
) -> None:
    """Draw the strips in a pane of at most `height` pixels, with that of row `chosen` marked.

    After a click, or Enter on it, the component of that key has the row as `clicked`, from 0, and `on_click` is called.
    """
    data = build(strips, threshold, chosen)
    data["meta"] |= {"color": COLORS["policy"], "height": height}
    _strips(key=key, data=data, on_clicked_change=on_click)
