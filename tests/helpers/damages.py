"""Values that do not belong where they are put, and records that hold one."""

import copy
from collections.abc import Iterator
from typing import Any

SIZES: tuple[Any, ...] = (-1, 2**31, 2**63, 2**64, -(10**30), 10**400, 1e308, float("nan"), float("inf"), "9" * 5_000)
"""Put where a number stands: none may become an index, a range or a length unasked."""

JUNK: tuple[Any, ...] = (None, True, 5, -1.5, "x", [], {}, [None], [5], ["x"], [[]], [{}], {"x": [1]})
"""A value of every shape, none of which belongs where it is put."""


Way = tuple[str | int, ...]


def spots(value: Any, path: Way = ()) -> Iterator[tuple[Any, Any, Way]]:
    """Every container within a value with a key of it and the way there; of a list, its first two items."""
    keys = list(value) if isinstance(value, dict) else range(min(len(value), 2)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key, (*path, key)
        yield from spots(value[key], (*path, key))


def damaged(record: dict[str, Any], seen: set[tuple[Way, type]] | None = None) -> Iterator[dict[str, Any]]:
    """The record with one value replaced, or one key gone, where `seen` has no value of that type; one object, mended in between."""
    record, seen = copy.deepcopy(record), set() if seen is None else seen
    new = [(holder, key, (path, type(holder[key]))) for holder, key, path in spots(record)]
    new = [one for one in new if one[2] not in seen]
    seen.update(place for _, _, place in new)
    for holder, key, _ in new:
        kept = holder[key]
        for junk in (*JUNK, *SIZES) if isinstance(kept, int | float) else JUNK:
            holder[key] = copy.deepcopy(junk)
            yield record
        if isinstance(holder, dict):
            del holder[key]
            yield record
        holder[key] = kept
