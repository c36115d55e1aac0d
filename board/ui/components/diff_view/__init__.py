"""Two texts drawn as one, with what is in one of them alone marked.

Texts are shown letter for letter. What is new is underlined on a tint, what is old struck through, so neither depends on its colour. As in
`board.ui.components.verbatim`, texts reach the browser as JSON and the page as text nodes: nothing in them can run, style or load anything.
"""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from board.analysis.stats.text_diff import DiffSpan
from board.serving import component_scripts

_pane: Final = st.components.v2.component(
    "rl_logging_board.diff_view",
    js=component_scripts.of("diff_view/diff_view.js"),
    css=component_scripts.style("diff_view/diff_view.css"),
)


def show(runs: Sequence[DiffSpan], *, key: str, height: int | None = None) -> None:
    """Draw the runs in a pane of its own; a folded one is a button that tells its words and opens it. Beyond `height` it scrolls.

    Within one page `key` belongs to one pane. Texts must be encodable as UTF-8, as everything the loader hands out is.
    """
    shown = [{"side": run.side, "text": run.text, "fold": f"{run.words:,} words the same" if run.folded else ""} for run in runs]
    _pane(key=key, data={"runs": shown, "height": height})
