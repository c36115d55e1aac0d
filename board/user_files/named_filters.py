"""Filters the reader gave a name to, kept in the settings folder. Knows neither SQL nor runs."""

from typing import Final

from board.errors import BoardError
from board.user_files.named_files import NamedFiles

_FILES: Final = NamedFiles("filters", "filter", "filter", lambda read: isinstance(read.get("filter"), str))


def load() -> dict[str, str]:
    """Name → filter, by name; none where nothing was saved, or nothing can be read: a filter must work without."""
    try:
        found, _ = _FILES.load()
    except BoardError:
        return {}
    return {one["name"]: one["filter"] for one in found}


def save(name: str, text: str) -> None:
    """Keep a filter under a name, in place of what had that name; an empty one forgets the name. Raises BoardError where it cannot be kept."""
    checked = _FILES.checked(name)
    if text:
        _FILES.save(checked, filter=text)
    else:
        _FILES.delete(checked)
