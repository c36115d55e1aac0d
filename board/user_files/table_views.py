"""The reader's views of the table of rollouts, kept by name: its columns and widths, its order, its filters.

Knows no run: a view is kept as it was saved, and whoever shows it looks what of it there is.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

from board.user_files.kept_entries import KeptEntries

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


@dataclass(frozen=True)
class TableViews:
    """All of them."""

    views: tuple[TableView, ...]
    """By name, without regard to case."""
    damaged: tuple[str, ...]
    """A sentence for each that could not be read. It stays where it is."""


def _is_sound(read: Any) -> bool:
    if not isinstance(read, dict):
        return False
    columns, width = read.get("columns"), read.get("width")
    return (
        read.keys() < TableView.__dataclass_fields__.keys()
        and all(isinstance(read.get(name), str) for name in ("sort", "text", "condition"))
        and isinstance(columns, list)
        and all(isinstance(one, str) for one in columns)
        and read.get("order") in ("descending", "ascending")
        and isinstance(width, int)
        and NARROWEST <= width <= WIDEST
    )


KEPT: Final = KeptEntries("table_views", "view", _is_sound)


def load() -> TableViews:
    """All views; none where nothing was ever saved. Raises BoardError when the file cannot be read."""
    found, damaged = KEPT.by_name()
    return TableViews(tuple(TableView(**one | {"name": name, "columns": tuple(one["columns"])}) for name, one in found), damaged)


def save(view: TableView) -> str:
    """Keep a view, in place of what had its name; the name it has then, without space around it. Raises BoardError where it cannot be kept."""
    return rename(view, view.name)


def rename(view: TableView, name: str) -> str:
    """Keep a view under another name, and no longer under its own; the name it has then. Raises BoardError where it cannot be kept."""
    new, said = KEPT.checked(name), asdict(view)
    del said["name"]
    KEPT.change(lambda held: {one: kept for one, kept in held.items() if one != view.name} | {new: said})
    return new
