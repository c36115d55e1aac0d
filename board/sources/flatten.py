"""Numbers out of one JSON object: nested objects joined by "/", everything else left out. Knows no file."""

import json
from collections.abc import Iterator
from typing import Any, Final

SPECIAL: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
"""How trackers write what JSON has no number for, when they write it as a string."""


def parsed(text: str | bytes) -> dict[str, Any]:
    """An object written as JSON, NaN and Infinity accepted. Raises ValueError for anything else, nesting without end included."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def numbers(row: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Each number's name and value. Objects with a `_type` describe a table, an image or a histogram and are no metrics.

    Raises ValueError for an integer that no float reaches.
    """
    for key, value in row.items():
        if isinstance(value, dict):
            if "_type" not in value:
                yield from numbers(value, f"{prefix}{key}/")
        elif (number := _number(value)) is not None:
            yield prefix + key, number


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return SPECIAL.get(value)
    if not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError("an integer is out of reach") from error
