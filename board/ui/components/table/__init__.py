"""Draws a table whose rows lead somewhere: sorted, searched and copied in the browser; a click or Enter reports the row.

Knows nothing of what the rows are or of where a click leads.
"""

from board.ui.components.table.columns import TableColumn
from board.ui.components.table.face import ROW_HEIGHT, show
from board.ui.components.table.payload import build

__all__ = ["ROW_HEIGHT", "TableColumn", "build", "show"]
