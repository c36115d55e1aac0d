"""Keyword in context: a row for each occurrence, which a click or Enter reports."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import streamlit as st

from board.serving import component_scripts

_concordance: Final = st.components.v2.component(
    "rl_logging_board.concordance",
    js=component_scripts.of("concordance/concordance.js"),
    css=component_scripts.style("concordance/concordance.css"),
)


@dataclass(frozen=True)
class OccurrenceRow:
    """A place; every text is shown letter for letter, on one line."""

    left: str
    match: str
    right: str
    facts: tuple[str, ...]
    """What else is known of it, under the heads."""
    column: str
    """Which text it is in."""


def show(
    rows: Sequence[OccurrenceRow], heads: Sequence[str], *, opened: int | None, key: str, on_open: Callable[[], None]
) -> None:
    """Draw the rows, the `opened` one marked. After a click the component of that key has the row's number as `opened`, from 0."""
    data = {"rows": [asdict(one) for one in rows], "heads": list(heads), "opened": opened}
    _concordance(key=key, data=data, on_opened_change=on_open)
