"""The order of a list: two controls, and a click on a column's head.

The controls' keys end alike on every page. Orders nothing.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import streamlit as st

from board.ui.state import linked

DESCENDING: Final = "descending"
ASCENDING: Final = "ascending"


class ListOrder(NamedTuple):
    """By what, and whether the largest come first."""

    by: str
    descending: bool


def choice(
    prefix: str,
    label: str,
    orders: Sequence[str],
    *,
    usual: str | None = None,
    ways: tuple[str, str] = (DESCENDING, ASCENDING),
    heading: Callable[[str], str] = str,
    width: int = 220,
    on_change: Callable[[], None] | None = None,
) -> ListOrder:
    """Draw both controls, whose keys are `prefix` and "sort" or "order": by the `usual` of the orders, or the first, the first way."""
    first = orders[0] if usual is None else usual
    by = st.selectbox(label, **linked.choice(f"{prefix}sort", orders, first, label=heading, then=on_change), width=width)
    way = st.segmented_control("Order", **linked.choice(f"{prefix}order", ways, then=on_change), required=True)
    return ListOrder(by or first, way == DESCENDING)


def turn(prefix: str, column: str, now: ListOrder, first_page: int | None = None) -> None:
    """Order by a column, the largest first, from the list's first page; the other way round where it is so already."""
    way = ASCENDING if now == (column, True) else DESCENDING
    linked.put(**{f"{prefix}sort": column, f"{prefix}order": way, f"{prefix}page": first_page})
