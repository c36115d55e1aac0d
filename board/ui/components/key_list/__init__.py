"""The button that opens the list of all keys, and the key `?`, except in text fields.

The keys of the token view are in its own scripts, and are read from there.
"""

from typing import Final

import streamlit as st

from board.serving import component_scripts
from board.ui.components.shortcuts import SHORTCUTS

TOKEN_KEYS: Final = "In the token view"

_list: Final = st.components.v2.component(
    "rl_logging_board.key_list",
    js=component_scripts.of("key_list/key_list.js"),
    css=component_scripts.style("key_list/key_list.css"),
)


def show() -> None:
    """Draw the button; one on a page."""
    of_pages = [[title, [[one.key, one.does] for one in shortcuts]] for title, shortcuts in SHORTCUTS.items()]
    _list(key="key_list", data={"sections": of_pages, "tokens": TOKEN_KEYS})
