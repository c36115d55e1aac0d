"""The reader's views of the table of rollouts, kept by name: its columns and widths, its order, its filters.

Knows no run: a view is kept as it was saved, and whoever shows it looks what of it there is.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from board.user_files.kept_entries import KeptEntries, of_fields

NARROWEST: Final = 120
WIDEST: Final = 1_200
"""Pixels of a column of text."""


@dataclass(frozen=True)
class TableView:
    """How a table of rollouts is shown."""

    name: str
    columns: tuple[str, ...]
    """In the order of the table."""
    sort: str
    """A column; empty for the order written."""
    order: str
    """"descending" or "ascending"."""
    text: str
    """What prompt or response must contain; empty for anything."""
    condition: str
    """The filter of all pages, as the link has it; empty for none."""
    width: int
    """Of columns of text, in pixels."""


def _parsed(held: Any) -> TableView:
    view = of_fields(TableView, held)
    if view.order not in ("descending", "ascending") or not NARROWEST <= view.width <= WIDEST:
        raise ValueError("it has another order, or is of another width")
    return view


KEPT: Final = KeptEntries("table_views", "view", _parsed)


def save(view: TableView, name: str) -> str:
    """Keep a view under a name, and no longer under its own; the name without space around it. Raises BoardError where it cannot be kept."""
    new = replace(view, name=KEPT.checked(name))
    KEPT.change(lambda held: {one: kept for one, kept in held.items() if one != view.name} | {new.name: new})
    return new.name
