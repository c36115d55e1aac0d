"""Listens to keys that Streamlit's buttons cannot have, except in what takes keys itself."""

from collections.abc import Callable, Mapping
from typing import Final

import streamlit as st

from board.serving import component_scripts

_keys: Final = st.components.v2.component("rl_logging_board.keys", js=component_scripts.of("keys/keys.js"))


def listen(keys: Mapping[str, str], *, key: str, on_press: Callable[[], None]) -> None:
    """Hear these keys, by what a keyboard event calls them, and what each stands for.

    After one the component of that key has what it stands for as `pressed`, and `on_press` is called.
    """
    _keys(key=key, data={"keys": dict(keys)}, on_pressed_change=on_press)
