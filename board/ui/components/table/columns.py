"""Columns of a table: their names, how values are written, what a click on the head does."""

from dataclasses import dataclass
from typing import Literal

Drawn = Literal["plain", "bar", "trend", "tags", "colour", "tick"]
"""How values are drawn: as they are; a number with a bar from zero; a list of numbers as a line; a list of texts; a colour ("#rrggbb", or
empty) as a square; true or false as a box that can be ticked."""


@dataclass(frozen=True)
class TableColumn:
    """One column; every text is shown letter for letter."""

    label: str | None = None
    """None: the column's name."""
    help: str = ""
    format: str = ""
    """How numbers are written, as printf does, with "%,d" for groups of thousands; empty: as the column's values ask for."""
    width: int | None = None
    """Pixels, until the reader drags it; None: as its values and its head ask for."""
    pinned: bool = False
    """Whether it stays in sight while the others are scrolled sideways."""
    right: bool | None = None
    """Whether values stand on the right; None: numbers do."""
    drawn: Drawn = "plain"
    color: str = ""
    """Of the bar or the line; empty: as text is."""
    sorts: bool = False
    """Whether a click on its head is reported, because there is more to sort than the rows that were sent."""
    opens: bool = False
    """Whether a click on it leads further than one elsewhere in its row: it looks like a link."""


PLAIN = TableColumn()
