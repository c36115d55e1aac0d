"""A list to choose one from, with a search field and buttons to step through it.

The buttons are for options that have an order. One list is what runs and steps are chosen from, in the top line of every page: drawn with
what a browser has, it costs a tenth of Streamlit's own box. Not `st.selectbox` between two `st.button`s, because of steps that are
pressed quickly Streamlit drops some (docs/limits.md), while this one goes on from the step it shows and requests the last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from board.serving import component_scripts
from board.ui.components.shortcuts import Shortcut

_picker: Final = st.components.v2.component(
    "rl_logging_board.picker",
    js=component_scripts.of("picker/picker.js"),
    css=component_scripts.style("picker/picker.css"),
)


@dataclass(frozen=True)
class Neighbour:
    """What stands before or after the chosen one, of which the list may show no more than a part."""

    text: str | None
    """None at the end."""
    shortcut: Shortcut


def show(
    label: str,
    options: Sequence[str],
    chosen: str | None,
    *,
    key: str,
    on_choose: Callable[[], None],
    width: int,
    placeholder: str = "",
    note: str = "",
    takes_others: bool = False,
    neighbours: tuple[Neighbour, Neighbour] | None = None,
) -> None:
    """Draw the list with `chosen` in its field; `width` is the field's, in pixels, and `note` stands below the open list.

    After a choice the component of that key has the text of the option as `chosen`, or with `takes_others` whatever was typed, and
    `on_choose` is called. The text is a request: the browser may show options of before.
    """
    data = {
        "label": label,
        "options": list(options),
        "chosen": chosen,
        "width": width,
        "placeholder": placeholder,
        "note": note,
        "takesOthers": takes_others,
        "neighbours": [{"text": one.text, "key": one.shortcut.key, "does": one.shortcut.does} for one in neighbours or ()],
    }
    _picker(key=key, data=data, on_chosen_change=on_choose, width="content")
