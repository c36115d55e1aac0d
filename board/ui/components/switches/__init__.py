"""Draws switches, each on or off, below each other. Knows nothing of what they switch, and keeps nothing."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import streamlit as st

from board.ui.components import bundle

_switches: Final = st.components.v2.component(
    "rl_logging_board.switches",
    js=bundle.script("switches/switches.js"),
    css=bundle.source("switches/switches.css"),
)


@dataclass(frozen=True)
class Switch:
    """One of them."""

    name: str
    label: str
    help: str
    on: bool


def show(switches: Sequence[Switch], *, key: str, on_change: Callable[[], None]) -> None:
    """Draw them. After a click the component of that key has `switched` ({name, on}: what it is to be), and `on_change` is called."""
    _switches(key=key, data={"switches": [asdict(one) for one in switches]}, on_switched_change=on_change, width="content")
