"""Values in nested records, by paths of keys with dots between them.

Knows objects and lists.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from board.sources.json_record import Record

_INDEX: Final = re.compile("[0-9]{1,6}")
_DEPTH: Final = 3
"""So deep are rows looked for within an object."""
_NUMBERED_KEY: Final = re.compile("[A-Za-z_ -]{0,30}[0-9]{1,18}")
SPLIT_KEY: Final = re.compile("train|val|valid|validation|dev|test|eval|evaluation")


def found(value: Any, path: str) -> Any:
    """What stands at a path: `output.text` is the key of that name, else `text` in `output`; `choices.0` the first of a list,
    `choices.*.text` the texts of all its items, and `response_*` the values of all keys that have a number or one letter there, in order.

    None when nothing does.
    """
    if isinstance(value, dict):
        if path in value:
            return value[path]
        if "*" in path and (numbered := [key for key in value if _numbered(path).fullmatch(key)]):
            return [value[key] for key in sorted(numbered, key=lambda key: (len(key), key))]
        starts = [at for at, char in enumerate(path) if char == "." and path[:at] in value]
        inner = (found(value[path[:at]], path[at + 1 :]) for at in starts)
        return next((one for one in inner if one is not None), None)
    first, _, rest = path.partition(".")
    if isinstance(value, list) and first == "*" and rest:
        return [found(item, rest) for item in value]
    if isinstance(value, list) and _INDEX.fullmatch(first) and int(first) < len(value):
        item = value[int(first)]
        return found(item, rest) if rest else item
    return None


@lru_cache(maxsize=64)
def _numbered(path: str) -> re.Pattern[str]:
    """The keys that a path stands for whose `*` is a number or a letter: none where it is a whole key, as in a list."""
    before, _, behind = path.partition("*")
    return re.compile(
        f"{re.escape(before)}([0-9]{{1,6}}|[A-Za-z]){re.escape(behind)}" if before.strip(".") or behind.strip(".") else "(?!)"
    )


def pruned(record: Record, paths: Iterable[str]) -> Record:
    """A record without the values at some paths; an object of which nothing is left goes too."""
    left: Record = {}
    paths = set(paths)
    for key, value in record.items():
        within = {path[len(key) + 1 :] for path in paths if path.startswith(f"{key}.")}
        if key in paths or any(_numbered(path).fullmatch(key) for path in paths if "*" in path):
            continue
        if not within or not isinstance(value, dict):
            left[key] = value
        elif rest := pruned(value, within):
            left[key] = rest
    return left


def rows_at(value: Any, path: str, around: tuple[Record, ...] = ()) -> Iterator[tuple[Record, ...]]:
    """Every row at a path, each with the objects around it, the nearest first: `samples`, or `results.*.text`, where `*` is every value.

    A list at its end holds a row an item; an item that is no object is a row of that one value, under the last key. The key that `*`
    stands for is around its rows, under `*`.
    """
    key, _, rest = path.partition(".")
    inner = (value, *around) if isinstance(value, dict) else around
    if key == "*" and isinstance(value, dict):
        for name, item in value.items():
            yield from rows_at(item, rest, ({"*": name}, *inner)) if rest else _rows(item, key, ({"*": name}, *inner))
    elif key == "*" and isinstance(value, list):
        yield from (row for item in value for row in (rows_at(item, rest, inner) if rest else _rows(item, key, inner)))
    elif isinstance(value, dict) and key in value:
        yield from rows_at(value[key], rest, inner) if rest else _rows(value[key], key, inner)


def rows_within(record: Record, depth: int = _DEPTH) -> Iterator[tuple[str, list[Record]]]:
    """Every list of objects in the objects of a record, with its path; of objects, or lists of them, under keys that differ, as ids do,
    `*` is every one, which are rows themselves where they have a key in common. At the top lists must be under keys with a number each,
    or under those of splits."""
    may_be_lists = depth < _DEPTH or any(all(map(keys.fullmatch, record)) for keys in (_NUMBERED_KEY, SPLIT_KEY))
    rows = [row for value in record.values() for row in (value if may_be_lists and isinstance(value, list) else [value])]
    of_one_shape = len({*map(type, record.values())}) == 1 < len(record)
    if of_one_shape and rows and all(isinstance(row, dict) for row in rows) and set.intersection(*map(set, rows)):
        yield "*", rows
    for key, value in record.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield key, value
        elif isinstance(value, dict) and depth > 1:
            yield from ((f"{key}.{path}", rows) for path, rows in rows_within(value, depth - 1))
            yield from _under_keys(f"{key}.", value, depth - 2)
    if depth == _DEPTH and may_be_lists:
        yield from _under_keys("", record, 1)


def _under_keys(before: str, value: Record, depth: int) -> Iterator[tuple[str, list[Record]]]:
    """The lists of objects that every object in an object has at the same path."""
    if len(value) > 1 and all(isinstance(item, dict) for item in value.values()):
        inner = [dict(rows_within(item, depth)) for item in value.values()]
        yield from ((f"{before}*.{path}", [row for one in inner for row in one.get(path, ())]) for path in inner[0])


def _rows(value: Any, key: str, around: tuple[Record, ...]) -> Iterator[tuple[Record, ...]]:
    items = value if isinstance(value, list) else [] if value is None else [value]
    yield from ((item if isinstance(item, dict) else {key: item}, *around) for item in items)
