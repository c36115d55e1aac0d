"""What the files of a golden run become: the rows of a file, and a row as one flat dict that a test can compare."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from board import formats
from board.formats.contract import Format, Head, Place
from board.formats.row import Row
from board.sources.json_record import Reader, Record

GOLDEN = Path(__file__).parent / "formats"


def golden(kind: Format, name: str) -> list[Row]:
    """The rows of a file of the golden run of a format, read as a run is: arrays come as float32 where the format says so."""
    records = golden_records(kind, name)
    return [row for at, record in enumerate(records, 1) for row in formats.read(record, kind, Place(name, at))]


def golden_records(kind: Format, name: str) -> list[Record]:
    """The records of that file."""
    path = GOLDEN / kind.__name__.rpartition(".")[2] / name  # type: ignore[attr-defined]
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    reader = Reader(kind.ARRAYS)
    return [reader.parse(line) for line in path.read_bytes().splitlines()]


def golden_head(kind: Format, name: str) -> Head:
    """The beginning of that file."""
    return Head(name, tuple(golden_records(kind, name)[:8]))


def read_one(kind: Format, record: Record, name: str = "run.jsonl") -> Row:
    """The only row of a record."""
    (row,) = formats.read(record, kind, Place(name, 1))
    return row


def flat(row: Row) -> dict[str, Any]:
    """All that a row holds by name: texts, ids and numbers, arrays as lists, None for NaN; flags where there are any."""
    numbers = {name: _known(number) for name, number in row.numbers.items()}
    arrays = {
        name: [_known(number) for number in np.round(array.astype(float), 6).tolist()] for name, array in row.arrays.items()
    }
    rest = {"response_tokens": row.tokens} if row.tokens is not None else {}
    flags = {"flags": row.flags} if row.flags else {}
    return {"step": row.step, **row.texts, **row.ids, **numbers, **arrays, **rest, **flags}


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
