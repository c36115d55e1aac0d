"""What a reader saved for any run: pinned metrics, filters, custom metrics, views of the table of rollouts.

Each is stored as it was given; what of it a run has is checked where it is shown.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from board.errors import BoardError
from board.settings import user_folders
from board.settings.json_settings import JsonSettings, by_name, exactly, of_fields

MOST_PINS: Final = 500
"""So many pins are stored; the oldest go first."""

MOST_RECENT: Final = 20
"""So many of the filters used last are stored."""

NARROWEST: Final = 120
WIDEST: Final = 1_200
"""Pixels of a column of text in a view."""

PINS: Final = JsonSettings("pinned_metrics", "pin", partial(exactly, bool))
FILTERS: Final = JsonSettings("filters", "filter", partial(exactly, str))
RECENT_FILTERS: Final = JsonSettings("recent_filters", "filter", partial(exactly, bool))


def toggle_pin(key: str) -> tuple[str, ...]:
    """Pin a metric, or take its pin off; the pins there are then. Raises BoardError where that cannot be stored."""

    def changed(pins: dict[str, bool]) -> dict[str, bool]:
        return dict.fromkeys([pin for pin in pins if pin != key] if key in pins else [*pins, key][-MOST_PINS:], True)

    return tuple(PINS.update(changed))


def filters() -> dict[str, str]:
    """Name → filter, by name; none where nothing was saved, or nothing can be read: a filter must work without."""
    try:
        return by_name(FILTERS.read())
    except BoardError:
        return {}


def save_filter(name: str, condition: str) -> None:
    """Keep a filter under a name, in place of what had that name; an empty one forgets the name. Raises BoardError where it cannot be stored."""
    FILTERS.put(FILTERS.checked_name(name), condition or None)


def recent_filters() -> tuple[str, ...]:
    """The filters used last, the latest first; none where they cannot be read: nothing is lost that could not be typed again."""
    try:
        return tuple(RECENT_FILTERS.read())
    except BoardError:
        return ()


def filter_used(condition: str) -> None:
    """This filter was used last. Where settings cannot be written it is not stored: a filter must work without."""
    if recent_filters()[:1] != (condition,):
        with suppress(BoardError):
            RECENT_FILTERS.update(lambda before: dict([*({condition: True} | before).items()][:MOST_RECENT]))


def _queries_of_version_0_2() -> dict[str, str]:
    """Those of version 0.2, which had a file for each. The files stay where they are."""
    found = {}
    for path in sorted((user_folders.settings() / "custom_metrics").glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            saved = json.loads(path.read_bytes())
            found[exactly(str, saved["name"])] = exactly(str, saved["query"])
    return found


QUERIES: Final = JsonSettings("custom_metrics", "custom metric", partial(exactly, str), _queries_of_version_0_2)


def save_query(name: str, query: str) -> str:
    """Keep a custom metric's query under a name, in place of what had that name; the name without space around it.

    Raises BoardError for a name or a query that cannot be stored.
    """
    checked, query = QUERIES.checked_name(name), query.strip()
    if not query:
        raise BoardError("There is no query to save.")
    QUERIES.put(checked, query)
    return checked


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


def _view(given: Any) -> TableView:
    view = of_fields(TableView, given)
    if view.order not in ("descending", "ascending") or not NARROWEST <= view.width <= WIDEST:
        raise ValueError("it has another order, or is of another width")
    return view


VIEWS: Final = JsonSettings("table_views", "view", _view)


def save_view(view: TableView, name: str) -> str:
    """Keep a view under a name, and no longer under its own; the name without space around it. Raises BoardError where it cannot be stored."""
    new = replace(view, name=VIEWS.checked_name(name))
    VIEWS.update(lambda views: {key: other for key, other in views.items() if key != view.name} | {new.name: new})
    return new.name
