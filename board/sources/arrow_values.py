"""Columns of Arrow and Parquet → values of JSON.

Every type has a stated number, text, list or object (docs/formats.md). What is null stays None, and nothing is rounded but decimals, to 64 bits.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from board.sources.json_record import Record

Is = Callable[[pa.DataType], bool]

_types: Final = pa.types
_LEAST: Final = 8
"""Bytes that a value takes at least, as text of JSON and in memory."""
_FLATTENED: Final = 1 << 30
"""Lists of more bytes are not concatenated only to find by how much they exceed a limit."""
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def rows(batch: pa.RecordBatch | pa.StructArray) -> list[Record]:
    """The rows as records, all keys in each; of a name that several columns bear, the later ones are `name (2)`, `name (3)`."""
    names = _distinct([field.name for field in batch.schema] if isinstance(batch, pa.RecordBatch) else batch.type.names)
    count = batch.num_columns if isinstance(batch, pa.RecordBatch) else batch.type.num_fields
    columns = [values(batch.column(at) if isinstance(batch, pa.RecordBatch) else batch.field(at)) for at in range(count)]
    return (
        [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)] if columns else [{} for _ in range(len(batch))]
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, each once."""
    found: dict[str, None] = {}
    for name in names:
        number, distinct = 1, name
        while distinct in found:
            number += 1
            distinct = f"{name} ({number})"
        found[distinct] = None
    return [*found]


def weight(array: pa.RecordBatch | pa.Array) -> int:
    """Bytes that the values take once each is written out, roughly and never far too few; found without doing so.

    A dictionary, a run or a view names one value any number of times, and a list may have any number of values of no bytes.
    """
    if isinstance(array, pa.RecordBatch):
        return len(array) + sum(map(weight, array.columns))
    return next((weigh for is_such, weigh in _WEIGHTS if is_such(array.type)), _weight_of_numbers)(array)


def _weight_of_numbers(array: pa.Array) -> int:
    return _LEAST * len(array)


def _weight_of_texts(array: pa.Array) -> int:
    return int(pc.sum(_lengths(array)).as_py() or 0) + _LEAST * len(array)


def _weight_of_fields(array: pa.Array) -> int:
    return len(array) * _LEAST + sum(weight(array.field(at)) for at in range(array.type.num_fields))


def _weight_of_maps(array: pa.Array) -> int:
    return len(array) * _LEAST + sum(map(weight, _of_map(array)))


def _weight_of_unions(array: pa.Array) -> int:
    return len(array) * (_LEAST + sum(_heaviest(array.field(at)) for at in range(array.type.num_fields)))


def _lengths(array: pa.Array) -> pa.Array:
    """Bytes of each text; of views, of which Arrow does not tell, by the first word of each."""
    if not (_types.is_string_view(array.type) or _types.is_binary_view(array.type)):
        return pc.binary_length(array)
    words = np.frombuffer(array.buffers()[1], np.int32, 4 * (array.offset + len(array)))
    return pa.array(words.reshape(-1, 4)[array.offset :, 0], mask=array.is_null().to_numpy(zero_copy_only=False))


def _weight_of_chosen(dictionary: pa.Array, indices: pa.Array) -> int:
    """Of values of a dictionary, as often as they are named."""
    if _is_text(dictionary.type):
        lengths = _lengths(dictionary).take(indices)
        return int(pc.sum(lengths).as_py() or 0) + _LEAST * len(indices)
    return _heaviest(dictionary) * len(indices)


def _weight_of_lists(array: pa.Array) -> int:
    count = int(pc.sum(pc.list_value_length(array)).as_py() or 0)
    inside = array.values
    if count > len(inside):  # views that overlap
        return count * _heaviest(inside)
    if count * _LEAST > _FLATTENED:
        return count * _LEAST
    return (len(array) + count) * _LEAST + weight(pc.list_flatten(array))


def _heaviest(array: pa.Array) -> int:
    """The weight of the heaviest value, or of all of them where that is not quickly found."""
    if _is_text(array.type):
        return int(pc.max(_lengths(array)).as_py() or 0) + _LEAST
    return _LEAST + (weight(array) if array.type.num_fields or _types.is_dictionary(array.type) else 0)


def _of_map(array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The keys and items of these rows alone: Arrow gives those of all rows that this is a slice of."""
    start = array.offsets[0].as_py() if len(array) else 0
    count = array.offsets[len(array)].as_py() - start if len(array) else 0
    return array.keys.slice(start, count), array.items.slice(start, count)


def values(array: pa.Array) -> list[Any]:
    """The values of a column. Shape (n,)."""
    return next((read for is_such, read in _READERS if is_such(array.type)), _given)(array)


def _given(array: pa.Array) -> list[Any]:
    """The values as Arrow gives them."""
    found: list[Any] = array.to_pylist()
    return found


def _uuids(array: pa.Array) -> list[Any]:
    return [None if one is None else str(UUID(bytes=one)) for one in array.storage.to_pylist()]


def _structs(array: pa.Array) -> list[Any]:
    return [row if valid else None for row, valid in zip(rows(array), array.is_valid().to_pylist(), strict=True)]


def _lists(array: pa.Array) -> list[Any]:
    """Lists of every kind, cut out of their concatenated values."""
    if _is_plain(array.type.value_type):
        try:
            return _given(array)
        except UnicodeDecodeError:
            pass  # one by one, then
    lengths, flat = pc.list_value_length(array).to_pylist(), values(pc.list_flatten(array))
    found, at = [], 0
    for length in lengths:
        found.append(None if length is None else flat[at : at + length])
        at += length or 0
    return found


def _maps(array: pa.Array) -> list[Any]:
    """A map is an object, its keys as text; one that has a key twice is a list of [key, value]."""
    offsets = [at - array.offsets[0].as_py() for at in array.offsets.to_pylist()]
    keys, held = map(values, _of_map(array))
    pairs = [[*zip(keys[a:b], held[a:b], strict=True)] for a, b in pairwise(offsets)]
    return [_map(one) if valid else None for one, valid in zip(pairs, array.is_valid().to_pylist(), strict=True)]


def _map(pairs: list[tuple[Any, Any]]) -> Any:
    found = {key if isinstance(key, str) else repr(key): value for key, value in pairs}
    return found if len(found) == len(pairs) else [list(pair) for pair in pairs]


def _texts(array: pa.Array) -> list[Any]:
    """Texts, also those that are not UTF-8: such a byte is written out."""
    try:
        return _given(array)
    except UnicodeDecodeError:
        return _bytes(array.view(pa.large_binary() if _types.is_large_string(array.type) else pa.binary()))


def _bytes(array: pa.Array) -> list[Any]:
    return [None if one is None else one.decode("utf-8", "backslashreplace") for one in array.to_pylist()]


def _decimals(array: pa.Array) -> list[Any]:
    return [float(one) if isinstance(one, Decimal) else None for one in array.to_pylist()]


def _durations(array: pa.Array) -> list[Any]:
    """Seconds."""
    per_second = _PER_SECOND[array.type.unit]
    return [None if one is None else one / per_second for one in array.view(pa.int64()).to_pylist()]


def _moments(array: pa.Array) -> list[Any]:
    """ISO 8601 with the digits of the type's unit; where the type has a time zone, the time in UTC with a Z."""
    return _written(array.view(pa.int64()), array.type.unit, "Z" if array.type.tz else "")


def _days(array: pa.Array) -> list[Any]:
    if _types.is_date32(array.type):
        return _written(array.view(pa.int32()), "D")
    return _written(pc.divide(array.view(pa.int64()), 86_400_000), "D")


def _written(ticks: pa.Array, unit: str, end: str = "") -> list[Any]:
    """Counts since 1970 as they are written, whichever the year."""
    known = np.asarray(pc.fill_null(ticks, 0).to_numpy(zero_copy_only=False), np.int64)
    texts = np.datetime_as_string(known.view(f"datetime64[{unit}]")).tolist() if len(known) else []
    return [f"{text}{end}" if valid else None for text, valid in zip(texts, ticks.is_valid().to_pylist(), strict=True)]


def _times(array: pa.Array) -> list[Any]:
    return _given(pc.cast(array, pa.string()))


def _intervals(array: pa.Array) -> list[Any]:
    """[months, days, nanoseconds], which no one number is."""
    return [None if one is None else list(one) for one in array.to_pylist()]


def _unions(array: pa.Array) -> list[Any]:
    return [values(pa.array([one.value.as_py()], one.value.type))[0] if one.value is not None else None for one in array]


def _one_of(*checks: Is) -> Is:
    return lambda kind: any(is_such(kind) for is_such in checks)


_is_list: Final = _one_of(
    _types.is_list, _types.is_large_list, _types.is_fixed_size_list, _types.is_list_view, _types.is_large_list_view
)
_is_binary: Final = _one_of(_types.is_binary, _types.is_large_binary, _types.is_fixed_size_binary, _types.is_binary_view)
_is_text: Final = _one_of(_types.is_string, _types.is_large_string, _types.is_string_view)
_is_plain: Final = _one_of(_types.is_integer, _types.is_float32, _types.is_float64, _types.is_boolean, _types.is_string)
"""Types of which Arrow's own reading gives what JSON can hold, at once for whole lists."""

_READERS: Final[Sequence[tuple[Is, Callable[[pa.Array], list[Any]]]]] = (
    (lambda kind: isinstance(kind, pa.UuidType), _uuids),
    (lambda kind: isinstance(kind, pa.BaseExtensionType), lambda array: values(array.storage)),
    (_types.is_dictionary, lambda array: values(array.dictionary_decode())),
    (_types.is_run_end_encoded, lambda array: values(pc.run_end_decode(array))),
    (_types.is_struct, _structs),
    (_types.is_map, _maps),
    (_is_list, _lists),
    (_is_text, _texts),
    (_is_binary, _bytes),
    (_types.is_decimal, _decimals),
    (_types.is_duration, _durations),
    (_types.is_timestamp, _moments),
    (_types.is_date, _days),
    (_types.is_time, _times),
    (_types.is_interval, _intervals),
    (_types.is_union, _unions),
    (_types.is_float16, lambda array: array.cast(pa.float32()).to_pylist()),  # older releases of Arrow give numpy's own scalars
)
"""Types whose values JSON cannot hold as Arrow gives them, and how each is read; all others are numbers, true, false or null."""

_WEIGHTS: Final[Sequence[tuple[Is, Callable[[pa.Array], int]]]] = (
    (lambda kind: isinstance(kind, pa.BaseExtensionType), lambda array: weight(array.storage)),
    (_types.is_dictionary, lambda array: _weight_of_chosen(array.dictionary, array.indices)),
    (_types.is_run_end_encoded, lambda array: _heaviest(array.values) * len(array)),
    (_types.is_fixed_size_binary, lambda array: (array.type.byte_width + _LEAST) * len(array)),
    (_one_of(_is_text, _is_binary), _weight_of_texts),
    (_types.is_struct, _weight_of_fields),
    (_types.is_map, _weight_of_maps),
    (_is_list, _weight_of_lists),
    (_types.is_union, _weight_of_unions),
)
"""Types whose values take more than a number does, and how they are weighed."""
