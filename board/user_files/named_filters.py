"""Filters the reader gave a name to, and those used last. Knows neither SQL nor runs."""

from contextlib import suppress
from typing import Final

from board.errors import BoardError
from board.user_files.kept_entries import KeptEntries, by_name, exactly

NAMED: Final = KeptEntries("filters", "filter", lambda held: exactly(str, held))
RECENT: Final = KeptEntries("recent_filters", "filter", lambda held: exactly(bool, held))

MOST: Final = 20
"""So many are kept of those used last."""


def load() -> dict[str, str]:
    """Name → filter, by name; none where nothing was saved, or nothing can be read: a filter must work without."""
    try:
        return by_name(NAMED.read())
    except BoardError:
        return {}


def save(name: str, filtered: str) -> None:
    """Keep a filter under a name, in place of what had that name; an empty one forgets the name. Raises BoardError where it cannot be kept."""
    NAMED.put(NAMED.checked(name), filtered or None)


def recent() -> tuple[str, ...]:
    """The filters used last, the latest first; none where they cannot be read: nothing is lost that could not be typed again."""
    try:
        return tuple(RECENT.read())
    except BoardError:
        return ()


def used(filtered: str) -> None:
    """This filter was used last. Where settings cannot be written it is not kept: a filter must work without."""
    if recent()[:1] != (filtered,):
        with suppress(BoardError):
            RECENT.change(lambda held: dict([*({filtered: True} | held).items()][:MOST]))
