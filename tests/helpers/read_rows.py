"""A record as the general record reader reads it."""

from typing import Any

from rows import row

from board.formats import row_reader
from board.formats.row import Row


def read(**fields: Any) -> Row:
    """A row of step 0 with these fields."""
    return row_reader.read(row(**fields))
