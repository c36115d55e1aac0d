"""The compared runs as chips in their colours.

A click on a name goes to that run, one on ✕ removes it. Names of folders, and those a reader typed, are shown letter for letter.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import streamlit as st

from board.serving import component_scripts

_chips: Final = st.components.v2.component(
    "rl_logging_board.run_chips",
    js=component_scripts.of("run_chips/run_chips.js"),
    css=component_scripts.style("run_chips/run_chips.css"),
)


@dataclass(frozen=True)
class RunChip:
    """One run."""

    name: str
    color: str
    """"#rrggbb"."""
    about: str = ""
    """The text under the pointer."""
    here: bool = False
    """Whether the pages are of this one."""
    gone: bool = False
    """Whether there is no such run."""


def show(chips: Sequence[RunChip], *, key: str, on_open: Callable[[], None], on_remove: Callable[[], None]) -> None:
    """Draw the chips. After a click the component of that key has a chip's number, from 0, as `opened` or `removed`."""
    _chips(key=key, data={"chips": [asdict(one) for one in chips]}, on_opened_change=on_open, on_removed_change=on_remove)
