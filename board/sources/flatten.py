"""The values of one JSON object by name, nested objects joined by "/"."""

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


def values(row: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Each value's name and the value, numbers and truth values as float. An object with a `_type`, which describes a table, an image or a
    histogram, is one value.

    Raises ValueError for an integer that no float reaches.
    """
    for key, value in row.items():
        if isinstance(value, dict) and "_type" not in value:
            yield from values(value, f"{prefix}{key}/")
        else:
            yield prefix + key, number(value)


def number(value: object) -> object:
    """A number, a truth value, or what stands for a number, as float; anything else as it is. Raises ValueError as `values`."""
    if isinstance(value, str):
        return SPECIAL.get(value, value)
    if not isinstance(value, int | float):
        return value
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError("an integer is out of reach") from error
