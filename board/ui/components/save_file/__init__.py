"""Has the browser save what an address of the board's server answers with. Draws nothing; knows neither what it is nor how it is made."""

from typing import Final

import streamlit as st

from board.serving import component_scripts

_saver: Final = st.components.v2.component("rl_logging_board.save_file", js=component_scripts.of("save_file/save_file.js"))


def start(address: str, *, key: str) -> None:
    """Begin the download, once however often this is drawn. The address is relative to the page's."""
    _saver(key=key, data={"address": address}, height=1)
