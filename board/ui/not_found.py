"""What stands where a link leads nowhere, to a page or a run that is not there: which pages and runs there are, as links. Draws only."""

from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import streamlit as st

from board.errors import BoardError
from board.runs import library
from board.runs.library import RunFolder
from board.serving.page_addresses import FORMER
from board.sources import locations
from board.text.path_names import shown
from board.ui import caches, place
from board.ui.components import text_links
from board.ui.messages import notice

MOST_RUNS: Final = 200
"""So many runs are offered as links; the list above the page has them all."""


def page(name: str) -> None:
    """In place of a page that the board does not have."""
    former = FORMER.get(name)
    if former:
        notice(f"The page {name!r} is called {former.title} now.")
        st.page_link(former.file, label=f"Open {former.title}", query_params=place.link(), width="content")
    else:
        notice(f"There is no page {name!r}. The tabs above lead to those there are.", "warning")
    try:
        root = caches.root()
        runs(caches.run_folders(shown(root)), root, "./")
    except BoardError as error:
        notice(str(error), "error")


def runs(folders: list[RunFolder], root: Path, there: str = "") -> None:
    """Every run under the root, each a link to it on the page at the address `there`, this one unless told."""
    if not folders:
        return
    st.text("Runs here:" if len(folders) <= MOST_RUNS else f"The first {MOST_RUNS} of {len(folders):,} runs here:")
    links = {
        locations.shown_name(root) if folder.name == library.HERE else folder.name: f"{there}?{urlencode({'run': folder.name})}"
        for folder in folders[:MOST_RUNS]
    }
    text_links.show(links, key="runs_there_are")
