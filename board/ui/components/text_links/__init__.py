"""Links whose names may be text of a run: Streamlit's own links would read Markdown.

A click loads the page anew, as an address typed by hand does.
"""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from board.serving import component_scripts

_links: Final = st.components.v2.component(
    "rl_logging_board.text_links",
    js=component_scripts.of("text_links/text_links.js"),
    css=component_scripts.style("text_links/text_links.css"),
)


def show(links: Mapping[str, str], *, key: str) -> None:
    """Draw links in rows: name → address relative to the page's. Names and addresses must be encodable as UTF-8."""
    _links(key=key, data={"links": [{"name": name, "href": href} for name, href in links.items()]})
