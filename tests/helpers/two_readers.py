"""Lines read in both ways that there are, by columns and row by row, and what came of them, so that a test can hold them equal."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa

from board.formats import native
from board.formats.contract import Format
from board.runs.cache.parts import Part
from board.runs.load_report import LoadReport
from board.runs.parsing import part_builder
from board.runs.parsing.part_builder import Item
from board.runs.read_options import ReadOptions
from board.sources.shards import Line, Shard

BY_ROWS = cast(Format, SimpleNamespace(**{name: getattr(native, name) for name in ("NAME", "FAMILY", "rollouts")}))
"""The board's own format, but not it itself: what reads by columns does not know it."""

KINDS = ("scalars", "texts", "tokens", "moments")


def lines_of(data: bytes) -> list[Item]:
    """The lines of some bytes as a shard's are cut, the last one whole or not."""
    pieces, at, found = data.split(b"\n"), 0, list[Item]()
    for number, piece in enumerate(pieces, 1):
        if piece.strip():
            found.append(Line(number, at, piece.rstrip(b"\r"), number < len(pieces)))
        at += len(piece) + 1
    return found


def read(items: Sequence[Item], kind: Format, shard: str = "rank_3.jsonl") -> tuple[list[Part], LoadReport]:
    """The parts of these items, and the report."""
    parts, report = list[Part](), LoadReport()
    part_builder.read_parts(items, Shard(Path(shard), shard, 0, 0), kind, ReadOptions(), report, parts.append)
    return parts, report


def assert_same(items: Sequence[Item]) -> None:
    """Read both ways: the same parts, bit by bit but that NaN is NaN, the same order of columns, the same report."""
    (by_columns, report), (by_rows, expected) = read(items, native), read(items, BY_ROWS)
    assert report == expected
    assert len(by_columns) == len(by_rows)
    for found, wanted in zip(by_columns, by_rows, strict=True):
        for kind in KINDS:
            assert_same_table(getattr(found, kind), getattr(wanted, kind))


def assert_same_table(found: pa.Table, wanted: pa.Table) -> None:
    """The same columns in the same order, of the same types and values."""
    assert found.schema == wanted.schema
    for name in wanted.column_names:
        assert [*leaves(found.column(name))] == [*leaves(wanted.column(name))], name


def leaves(column: pa.Array | pa.ChunkedArray) -> Iterator[Any]:
    """All that makes a column, as values that can be compared: what is missing, where lists begin, floats as their bits."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    yield array.is_valid().to_pylist()
    if pa.types.is_dictionary(array.type):
        yield from (array.indices.to_pylist(), array.dictionary.to_pylist())
    elif pa.types.is_large_list(array.type):
        yield array.value_lengths().to_pylist()
        yield from leaves(array.flatten())
    elif pa.types.is_struct(array.type):
        for at in range(array.type.num_fields):
            yield from leaves(array.field(at))
    elif pa.types.is_floating(array.type):
        numbers = array.drop_null().to_numpy(zero_copy_only=False).copy()
        numbers[np.isnan(numbers)] = np.nan
        yield numbers.tobytes()
    else:
        yield array.to_pylist()
