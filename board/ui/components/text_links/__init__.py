"""Draws links whose names may be text of a run: as text, letter for letter, where Streamlit's own links read Markdown.

Knows nothing of where they lead. A click loads the page anew, as an address typed by hand does.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

import streamlit as st

_SOURCES: Final = files("board.ui.components.text_links")

_links: Final = st.components.v2.component(
    "rl_logging_board.text_links",
    js=_SOURCES.joinpath("text_links.js").read_text(encoding="utf-8"),
    css=_SOURCES.joinpath("text_links.css").read_text(encoding="utf-8"),
)


def show(links: Mapping[str, str], *, key: str) -> None:
    """Draw links in rows: name → address relative to the page's. Names and addresses must be encodable as UTF-8."""
    _links(key=key, data={"links": [{"name": name, "href": href} for name, href in links.items()]})
