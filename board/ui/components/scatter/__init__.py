"""A scatter of up to 100,000 points, which hears clicks, boxes and lassos.

Two components, because one whose smallest property changes is sent again whole: `show` holds the points, `choose` where the chosen one lies.
"""

import math
from collections.abc import Callable
from typing import Any, Final

import streamlit as st

from board.analysis.stats.scatter_points import MOST_SENT, Corner
from board.serving import component_scripts
from board.ui.components.scatter.picture import Names, Picture, picture

__all__ = ["Names", "Picture", "choose", "corners", "picture", "show"]

_scatter: Final = st.components.v2.component(
    "rl_logging_board.scatter", js=component_scripts.of("scatter/scatter.js"), css=component_scripts.style("scatter/scatter.css")
)
_choice: Final = st.components.v2.component(
    "rl_logging_board.scatter_choice", js=component_scripts.of("scatter/choice_bridge.js")
)


def show(
    shown: Picture, *, key: str, on_click: Callable[[], None], on_select: Callable[[], None] | None = None, height: int = 430
) -> None:
    """Draw the picture, its plot `height` pixels tall.

    After a click on a dot the component of that key has its place as `clicked` ({"x": …, "y": …}, 0 to 1), after a box or a lasso
    `selected` ({"box": [x, y, x, y]} or {"lasso": [[x, y], …]}), and the callback is called.
    """
    _scatter(key=key, data=shown.data | {"height": height}, on_clicked_change=on_click, on_selected_change=on_select or _nothing)


def choose(place: Corner | None, *, key: str) -> None:
    """Ring the dot at that place, or none."""
    _choice(key=key, data={"place": None if place is None else list(place)})


def corners(given: Any) -> list[Corner]:
    """Places that a browser sent, checked: finite, 0 to 1, no more than may be. Empty for anything else."""
    if not isinstance(given, list) or len(given) > MOST_SENT:
        return []
    flat = [number for one in given for number in (one if isinstance(one, list) else [one])]
    known = all(isinstance(one, int | float) and math.isfinite(one) for one in flat)
    if not known or len(flat) % 2 or any(isinstance(one, list) and len(one) != 2 for one in given):
        return []
    within = [min(1.0, max(0.0, float(one))) for one in flat]
    return list(zip(within[::2], within[1::2], strict=True))


def _nothing() -> None:
    """A trigger is only reported where a callback is named."""
