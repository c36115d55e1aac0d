"""What a list is ordered by, and which way: two controls whose keys end alike on every page, and a click on a column's head that turns them.

Orders nothing.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import streamlit as st

from board.ui import place

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
    by = st.selectbox(
        label,
        orders,
        index=orders.index(first),
        format_func=heading,
        key=f"{prefix}sort",
        bind="query-params",
        on_change=on_change,
        width=width,
    )
    way = st.segmented_control(
        "Order", ways, default=ways[0], required=True, key=f"{prefix}order", bind="query-params", on_change=on_change
    )
    return ListOrder(by or first, way == DESCENDING)


def turn(prefix: str, column: str, now: ListOrder) -> None:
    """Order by a column, the largest first, from the list's first page; the other way round where it is so already."""
    way = ASCENDING if now == (column, True) else DESCENDING
    place.set_widgets(**{f"{prefix}sort": column, f"{prefix}order": way, f"{prefix}page": 1})
