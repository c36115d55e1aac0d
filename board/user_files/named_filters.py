"""Filters the reader gave a name to, and those used last. Knows neither SQL nor runs."""

from contextlib import suppress
from typing import Final

from board.errors import BoardError
from board.user_files.kept_entries import KeptEntries

NAMED: Final = KeptEntries("filters", "filter", lambda one: isinstance(one, dict) and isinstance(one.get("filter"), str))
RECENT: Final = KeptEntries("recent_filters", "filter", lambda one: one is True)

MOST: Final = 20
"""So many are kept of those used last."""


def load() -> dict[str, str]:
    """Name → filter, by name; none where nothing was saved, or nothing can be read: a filter must work without."""
    try:
        return {name: one["filter"] for name, one in NAMED.by_name()[0]}
    except BoardError:
        return {}


def save(name: str, text: str) -> None:
    """Keep a filter under a name, in place of what had that name; an empty one forgets the name. Raises BoardError where it cannot be kept."""
    checked = NAMED.checked(name)
    if text:
        NAMED.put(checked, {"filter": text})
    else:
        NAMED.delete(checked)


def recent() -> tuple[str, ...]:
    """The filters used last, the latest first; none where they cannot be read: nothing is lost that could not be typed again."""
    try:
        return tuple(RECENT.read()[0])[:MOST]
    except BoardError:
        return ()


def used(text: str) -> None:
    """This filter was used last. Where settings cannot be written it is not kept: a filter must work without."""
    if recent()[:1] != (text,):
        with suppress(BoardError):
            RECENT.change(
                lambda held: dict.fromkeys([text, *(one for one in held if held[one] is True and one != text)][:MOST], True)
            )
