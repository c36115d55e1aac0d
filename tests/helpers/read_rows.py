"""What was read: a record as the general record reader reads it, a run's prompts."""

from typing import Any

from rows import row

from board.formats import row_reader
from board.formats.row import Row
from board.runs.run import Run


def read(**fields: Any) -> Row:
    """A row of step 0 with these fields."""
    return row_reader.read(row(**fields))


def prompts(run: Run) -> list[str]:
    """The prompts in the frame's order."""
    return list(run.texts("prompt", run.frame.index.to_numpy()).to_pylist())
