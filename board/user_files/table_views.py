"""The reader's views of the table of rollouts, kept by name in the settings folder: its columns and widths, its order, its filters.

Knows no run: a view is kept as it was saved, and whoever shows it looks what of it there is.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

from board.user_files.named_files import NamedFiles

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
    """What the folder holds."""

    views: tuple[TableView, ...]
    """By name, without regard to case."""
    damaged: tuple[str, ...]
    """A sentence for each file that could not be read. It stays where it is."""


def _is_sound(read: dict[str, Any]) -> bool:
    texts = all(isinstance(read.get(name), str) for name in ("sort", "text", "condition"))
    columns, width = read.get("columns"), read.get("width")
    return (
        texts
        and isinstance(columns, list)
        and all(isinstance(one, str) for one in columns)
        and read.get("order") in ("descending", "ascending")
        and isinstance(width, int)
        and NARROWEST <= width <= WIDEST
    )


_FILES: Final = NamedFiles("table_views", "view", "columns and order", _is_sound)


def load() -> TableViews:
    """All views; none where nothing was ever saved. Raises BoardError when the folder cannot be read."""
    found, damaged = _FILES.load()
    fields = TableView.__dataclass_fields__
    views = [{name: one[name] for name in fields} | {"columns": tuple(one["columns"])} for one in found]
    return TableViews(tuple(TableView(**one) for one in views), tuple(damaged))


def save(view: TableView) -> str:
    """Keep a view, in place of what had its name; the name it has then, without space around it. Raises BoardError where it cannot be kept."""
    name = _FILES.checked(view.name)
    _FILES.save(**(asdict(view) | {"name": name}))
    return name


def rename(view: TableView, name: str) -> str:
    """Keep a view under another name, and no longer under its own; the name it has then. Raises BoardError where it cannot be kept."""
    new = save(TableView(**(asdict(view) | {"name": name})))
    if new != view.name:
        delete(view.name)
    return new


def delete(name: str) -> None:
    """Forget the view of that name, if there is one. Raises BoardError where it cannot be removed."""
    _FILES.delete(name)
