"""Mounts curves on a page and hears what the reader does in them.

Two components, because a component whose smallest property changes is sent again whole. `show` holds the numbers, once for all panels of a
page or a section of it; `choose`, once a page, a few bytes and nothing to see, carries the chosen step to all of them.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from typing import Final

import streamlit as st

from board.serving import component_scripts
from board.ui.components.curves.payload import CurveMark, CurvesPayload

_curves: Final = st.components.v2.component(
    "rl_logging_board.curves",
    js=component_scripts.of("curves/curves.js"),
    css="\n".join(component_scripts.style(f"curves/{name}") for name in ("vendored/uPlot.min.css", "curves.css")),
)
_choice: Final = st.components.v2.component("rl_logging_board.curves_choice", js=component_scripts.of("curves/choice_bridge.js"))


def show(
    payload: CurvesPayload,
    *,
    key: str,
    on_click: Callable[[], None],
    on_zoom: Callable[[], None] | None = None,
    on_keep: Callable[[], None] | None = None,
    on_pin: Callable[[], None] | None = None,
    on_look: Callable[[], None] | None = None,
) -> None:
    """Draw the panels. Within one page `key` belongs to one set of them.

    After a click the component of that key has the step as `clicked`, and `on_click` is called. After a zoom it has {"range": [first, last]}
    as `zoomed`, or {"range": None} for all steps, and once the reader filters by these steps, as `kept`. After a click on a panel's
    pin, or on what leads to another page, it has the panel's key as `pinned` or `looked`. The other callbacks are called likewise.
    """
    _curves(
        key=key,
        data=payload.data,
        on_clicked_change=on_click,
        on_zoomed_change=on_zoom or _nothing,
        on_kept_change=on_keep or _nothing,
        on_pinned_change=on_pin or _nothing,
        on_looked_change=on_look or _nothing,
    )


def choose(
    step: int,
    *,
    zoom: tuple[int, int] | None = None,
    pinned: Collection[str] = (),
    marks: Sequence[CurveMark] = (),
    at: float | None = None,
    key: str,
) -> None:
    """Mark the step in all curves of the page, show the steps from `zoom[0]` to `zoom[1]` or all, and say which panels are pinned.

    `marks` are drawn in the panels that show what they name. Along another axis than that of steps the chosen one stands `at`, and `zoom` and
    `marks` are in its measure.
    """
    data = {
        "step": step if at is None else at,
        "label": f"step {step:,}".replace("-", "\u2212"),
        "zoom": None if zoom is None else list(zoom),
        "pinned": list(pinned),
        "marks": [asdict(one) for one in marks],
    }
    _choice(key=key, data=data)


def _nothing() -> None:
    """A trigger is only reported where a callback is named."""
