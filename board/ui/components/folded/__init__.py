"""Facts as lines that unfold on a click; the browser remembers which are open.

As in `board.ui.components.verbatim`, every word reaches the browser as JSON and the page as a text node, letter for letter: nothing in it can
run, style or load anything.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

import streamlit as st

from board.analysis.rollouts.rollout_facts import Particular
from board.serving import component_scripts

_pane: Final = st.components.v2.component(
    "rl_logging_board.folded",
    js=component_scripts.of("folded/folded.js"),
    css=component_scripts.style("folded/folded.css"),
)


def show(lines: Sequence[Particular], *, key: str) -> None:
    """Draw the lines, folded but for those that the reader has opened under this `key`; a line keeps its state by its name.

    Texts must be encodable as UTF-8, as everything the loader hands out is.
    """
    _pane(key=key, data={"key": key, "lines": [asdict(line) for line in lines]})
