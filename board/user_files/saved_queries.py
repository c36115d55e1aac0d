"""The reader's custom metrics, kept by name. Knows neither SQL nor runs."""

from typing import Final

from board.errors import BoardError
from board.user_files.kept_entries import KeptEntries, exactly

KEPT: Final = KeptEntries("custom_metrics", "custom metric", lambda held: exactly(str, held))


def save(name: str, query: str) -> str:
    """Keep a query under a name, in place of what had that name; the name it was saved under, without space around it.

    Raises BoardError for a name or a query that cannot be kept.
    """
    checked, query = KEPT.checked(name), query.strip()
    if not query:
        raise BoardError("There is no query to save.")
    KEPT.put(checked, query)
    return checked
