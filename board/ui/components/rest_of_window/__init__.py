"""Tells the page's style how much of the window is left below an element's top: `--rest-of-window`, in pixels.

Only the browser knows how tall the window is and what stands above. Draws nothing itself; what becomes so tall, frame.css says.
"""

from typing import Final

import streamlit as st

from board.serving import component_scripts

_measure: Final = st.components.v2.component(
    "rl_logging_board.rest_of_window",
    js=component_scripts.of("rest_of_window/rest_of_window.js"),
)


def measure(element: str, *, key: str) -> None:
    """Measure below the top of the element with that key, now and whenever the window or what stands above it changes. Once a page."""
    _measure(key=key, data={"element": element})
