"""A model's text letter for letter, with its line breaks, indentation and spaces.

Streamlit's own `st.text` dedents and strips what it is given, and its Markdown interprets it; this does neither. The text goes to the
browser as JSON and into the page as a text node, so nothing in it can run, style or load anything.
"""

from typing import Final

import streamlit as st

from board.serving import component_scripts

_pane: Final = st.components.v2.component(
    "rl_logging_board.verbatim",
    js=component_scripts.of("verbatim/verbatim.js"),
    css=component_scripts.style("verbatim/verbatim.css"),
)


def show(
    text: str,
    *,
    key: str,
    caption: str = "",
    empty: str = "(empty)",
    height: int | None = None,
    mark: tuple[int, int] | None = None,
) -> None:
    """Draw `text` in a pane of its own below its `caption`; `empty` stands, greyed, where there is none. Beyond `height` pixels it scrolls.

    The characters from the first number of `mark` to before the second are marked, and come into view.

    Within one page `key` belongs to one pane. The text must be encodable as UTF-8, as everything the loader hands out is.
    """
    _pane(key=key, data={"text": text, "caption": caption, "empty": empty, "height": height, "mark": _units(text, mark)})


def _units(text: str, mark: tuple[int, int] | None) -> tuple[int, int] | None:
    """Characters as the browser counts them: in units of UTF-16; None where there is nothing to mark."""
    if mark is None or not 0 <= mark[0] < mark[1] <= len(text):
        return None
    start, stop = (len(text[:at].encode("utf-16-le", "surrogatepass")) // 2 for at in mark)
    return start, stop
