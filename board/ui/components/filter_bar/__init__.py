"""The filter of all pages: its chips, a field that completes, recent filters, a count.

Knows what a chip is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import streamlit as st

from board.serving import component_scripts
from board.sql.chips import Chip

_bar: Final = st.components.v2.component(
    "rl_logging_board.filter_bar",
    js=component_scripts.of("filter_bar/filter_bar.js"),
    css=component_scripts.style("filter_bar/filter_bar.css"),
)


@dataclass(frozen=True)
class Refused:
    """The latest filter, which is not a valid condition."""

    typed: str
    reason: str


@dataclass(frozen=True)
class NamedColumn:
    """A column that a condition may name."""

    name: str
    """As SQL writes it."""
    kind: str
    """ "number" or "text"."""
    meaning: str
    values: tuple[str, ...] = ()
    """What it may be equal to, as SQL writes it, where these are few."""


def show(
    chips: Sequence[Chip],
    count: str,
    *,
    problem: Refused | None,
    columns: Sequence[NamedColumn],
    recent: Sequence[str],
    named: Mapping[str, str],
    key: str,
    on: Mapping[str, Callable[[], None]],
) -> None:
    """Draw the bar. `count` says how many rollouts are left; `named` are filters by their names.

    The component of that key reports `typed` ({condition, in_place_of: a chip's number or null}), `chips` (all of them as they are to be),
    `chosen` (a filter of before) and `named` (a name for this one), each of which calls the callback of that name in `on`.
    """
    data = {
        "chips": [asdict(one) for one in chips],
        "count": count,
        "problem": asdict(problem) if problem else None,
        "columns": [asdict(one) for one in columns],
        "recent": list(recent),
        "named": [{"name": name, "filter": text} for name, text in named.items()],
    }
    callbacks: dict[str, Any] = {f"on_{name}_change": act for name, act in on.items()}
    _bar(key=key, data=data, **callbacks)
