"""Draws a few numbers in a row, each below its name.

Streamlit's own metric reads Markdown, measures whether it fits and brings its own frame: several of them take as long as a table.
"""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from board.serving import component_scripts

_facts: Final = st.components.v2.component(
    "rl_logging_board.facts",
    js=component_scripts.of("facts/facts.js"),
    css=component_scripts.style("facts/facts.css"),
)


def show(numbers: Mapping[str, str], *, key: str) -> None:
    """Draw the numbers by name, in their order, as they are written; within one page `key` belongs to one row of them."""
    _facts(key=key, data={"facts": [*numbers.items()]}, width="content")
