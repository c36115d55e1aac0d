"""Compare: how do runs side by side differ? Draws the chosen section alone."""

from typing import Final

import streamlit as st

from board.ui.frame import compared_runs
from board.ui.pages.compare.sections import SECTIONS
from board.ui.state import caches, linked, place, run_looks

ADD: Final = "compare_add"


def alone() -> None:
    """How a second run is chosen, and a list to choose one from right here."""
    root = caches.root()
    called = run_looks.offered(caches.run_folders(root), root, run_looks.addresses())
    if not called:
        st.text("There is no other run under this root to compare this one with.")
        return
    st.text("No run to compare with this one is chosen yet. Choose one here, or several on the page Runs.")
    st.selectbox(
        "Compare with",
        [*called],
        index=None,
        format_func=called.__getitem__,
        placeholder="Choose a run",
        key=ADD,
        on_change=added,
        width=360,
    )


def added() -> None:
    """Add the run that was chosen to those compared."""
    if name := place.widget_text(ADD):
        run_looks.add(name)


sides = compared_runs.chosen()
if len(sides) < 2:
    alone()
else:
    titles = [section.title for section in SECTIONS]
    chosen = st.segmented_control(
        "Section", **linked.choice("compare_section", titles), required=True, label_visibility="collapsed"
    )
    next(section for section in SECTIONS if section.title == (chosen or titles[0])).draw(sides)
