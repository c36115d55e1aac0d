"""Links from page to page that take along all that the browser's address says.

They are the row of tabs, and the light of the findings. The address is read when the reader clicks, not when the link is drawn: what was
chosen in between goes along.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

import streamlit as st

from board.serving import component_scripts

_links: Final = st.components.v2.component(
    "rl_logging_board.page_links",
    js=component_scripts.of("page_links/page_links.js"),
    css=component_scripts.style("page_links/page_links.css"),
    isolate_styles=False,
)


@dataclass(frozen=True)
class PageLink:
    """One link."""

    text: str
    path: str
    """Of the page in its address, after the slash; empty for the first."""
    kind: str = "none"
    """How its words look: a severity, or "none"."""


def show(links: Sequence[PageLink], *, chosen: str | None = None, label: str = "", key: str) -> None:
    """Draw the links; `chosen` is the path of the page that is open, `label` what the row is called where it is one for finding one's way."""
    _links(key=key, data={"links": [asdict(one) for one in links], "chosen": chosen, "label": label})
