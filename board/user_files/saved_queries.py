"""The reader's custom metrics, kept by name. Knows neither SQL nor runs."""

import json
from contextlib import suppress
from typing import Final

from board.errors import BoardError
from board.user_files import user_folders
from board.user_files.kept_entries import KeptEntries, exactly


def _of_version_0_2() -> dict[str, str]:
    """Those of version 0.2, which had a file for each. The files stay where they are."""
    found = {}
    for path in sorted((user_folders.settings() / "custom_metrics").glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            one = json.loads(path.read_bytes())
            found[exactly(str, one["name"])] = exactly(str, one["query"])
    return found


KEPT: Final = KeptEntries("custom_metrics", "custom metric", lambda held: exactly(str, held), _of_version_0_2)


def save(name: str, query: str) -> str:
    """Keep a query under a name, in place of what had that name; the name it was saved under, without space around it.

    Raises BoardError for a name or a query that cannot be kept.
    """
    checked, query = KEPT.checked(name), query.strip()
    if not query:
        raise BoardError("There is no query to save.")
    KEPT.put(checked, query)
    return checked
