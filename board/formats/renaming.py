"""A record's keys → ours, columns → rows, and parts of a reward → their sum.

What several formats need to map their fields. Knows dicts and lists.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from board.errors import RowRefused
from board.formats.chat import is_chat
from board.formats.row import FloatArray
from board.formats.row_reader import as_array, as_number, shown
from board.sources.json_record import Record, parse_value
from board.text.counting import plural


def need(record: Record, *keys: str) -> None:
    """Raise RowRefused naming those of the keys that the record has not, or has as null."""
    missing = [f"`{key}`" for key in keys if record.get(key) is None]
    if missing:
        there = ", ".join(key[:40] for key in list(record)[:12]) or "none"
        raise RowRefused(f"has no {' and no '.join(missing)}; its keys are: {there}")


def renamed(record: Record, names: Mapping[str, str], made: Iterable[str] = ()) -> Record:
    """The record under our names: `names` says what its keys are called here, `made` which names the format fills by itself.

    A key that is not among them keeps its name, unless something else bears that here: then it gets the suffix ` (logged)`.
    """
    taken = {*names.values(), *made}
    return {names.get(key, f"{key} (logged)" if key in taken else key): value for key, value in record.items()}


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, NaN being equal to NaN."""
    return bool(one == other or (one != one and other != other))


def list_or_none(record: Record, key: str) -> Any:
    """The list (or array) under a key, None where there is none. Raises RowRefused for anything else."""
    value = record.get(key)
    if value is None or isinstance(value, (list, np.ndarray)):
        return value
    raise RowRefused(f"`{key}` is {shown(value)}, not a list")


def rows(columns: Record, key: str) -> list[Record]:
    """The rows of a record whose values are columns, as many as there are in the column `key`; what is not a list is every row's.

    Raises RowRefused when `key` is no list, or when another column has not as many entries, so that it is unknown which belong together.
    """
    need(columns, key)
    count = len(list_or_none(columns, key))
    for name, column in columns.items():
        if isinstance(column, list) and len(column) != count:
            raise RowRefused(
                f"`{name}` has {plural(len(column), 'value')} against {count:,} in `{key}`: it is unknown which belong together"
            )
    return [{name: column[at] if isinstance(column, list) else column for name, column in columns.items()} for at in range(count)]


def of_sample(value: Any, at: int, count: int) -> Any:
    """A group's record with one sample's item of every list that has one for each of its `count` samples; a conversation is no such list."""
    if isinstance(value, dict):
        return {key: of_sample(inner, at, count) for key, inner in value.items()}
    return value[at] if isinstance(value, list) and len(value) == count and not is_chat(value) else value


def total(parts: Iterable[Any]) -> float | None:
    """The sum of those parts of a reward that are there: null and NaN count for nothing; None when no part is there."""
    numbers = [number for part in parts if (number := as_number(part)) is not None and not math.isnan(number)]
    return sum(numbers) if numbers else None


def left_out(parts: Record) -> Record:
    """Those parts of a reward that are NaN, as missing: TRL's way to say that a function does not apply to a rollout."""
    return {name: None for name, part in parts.items() if isinstance(part, float) and math.isnan(part)}


def unpacked(record: Record, key: str) -> Any:
    """The value that stands under a key as JSON text, as trainers pack what their columns cannot hold; anything but text as it is.

    Raises RowRefused when the text is not JSON.
    """
    value = record.get(key)
    try:
        return parse_value(value.encode()) if isinstance(value, str) else value
    except RowRefused as error:
        raise RowRefused(f"`{key}` {error}: {shown(value)}") from error


def mask(record: Record, key: str) -> FloatArray:
    """The mask under a key, shape (T,), null as 0. Raises RowRefused when there is none, or when it is not a list of numbers."""
    need(record, key)
    array = as_array(list_or_none(record, key))
    if array is None:
        raise RowRefused(f"`{key}` is not a list of numbers: {shown(record[key])}")
    return np.nan_to_num(array)


def parts_between(record: Record, first: str, stop: str, is_named: Callable[[str], bool] = lambda key: False) -> Record:
    """The floats under the keys behind `first` and before `stop`, where trainers that keep an order put what reward functions gave; any
    number where a key is called so."""
    keys = list(record)
    between = keys[keys.index(first) + 1 : keys.index(stop) if stop in keys else None] if first in keys else []
    kinds = {key: int | float if is_named(key) else float for key in between}
    return {key: record[key] for key, kind in kinds.items() if isinstance(record[key], kind)}


def sum_note(names: Iterable[str], others: Iterable[str] = ()) -> str:
    """That the reward is a sum we made, of what, and what may be one of its parts and is not in it; empty when of nothing."""
    summed, apart = (", ".join(dict.fromkeys(some)) for some in (names, others))
    without = f", without {apart}" if apart else ""
    return f"The trainer stores no total, so reward is the unweighted sum of {summed}{without}." if summed else ""
