"""Values that do not belong where they are put, and records that hold one."""

import copy
from collections.abc import Iterator
from typing import Any

SIZES: tuple[Any, ...] = (-1, 2**31, 2**63, 2**64, -(10**30), 10**400, 1e308, float("nan"), float("inf"), "9" * 5_000)
"""Put where a number stands: none may become an index, a range or a length unasked."""

JUNK: tuple[Any, ...] = (None, True, 5, -1.5, "x", [], {}, [None], [5], ["x"], [[]], [{}], {"x": [1]})
"""A value of every shape, none of which belongs where it is put."""


def spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container within a value with a key of it; of a list, its first two items."""
    keys = list(value) if isinstance(value, dict) else range(min(len(value), 2)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from spots(value[key])


def damaged(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The record with one value replaced, or one key gone; the same object every time, mended in between."""
    record = copy.deepcopy(record)
    for holder, key in list(spots(record)):
        kept = holder[key]
        for junk in (*JUNK, *SIZES) if isinstance(kept, int | float) else JUNK:
            holder[key] = copy.deepcopy(junk)
            yield record
        if isinstance(holder, dict):
            del holder[key]
            yield record
        holder[key] = kept
