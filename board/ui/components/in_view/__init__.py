"""Empty space, as tall as what is drawn there once the reader scrolls to it."""

from typing import Final

import streamlit as st

from board.serving import component_scripts

_in_view: Final = st.components.v2.component("rl_logging_board.in_view", js=component_scripts.of("in_view/in_view.js"))


def reached(height: int, *, key: str) -> None:
    """Keep a place of so many pixels; the component of that key has True as `seen` once it came into the window, and no height then.

    One that is in the window from the start is seen once the reader scrolls or after some seconds: the first screen comes first.
    """
    _in_view(key=key, data={"height": height}, default={"seen": False}, on_seen_change=_nothing)


def _nothing() -> None:
    """A state is only reported where a callback is named."""
