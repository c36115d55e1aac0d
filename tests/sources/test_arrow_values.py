"""Tests that a column of every Arrow type has a stated value that JSON can hold."""

import datetime as dt
import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from board import open_run
from board.sources import arrow_values

UTC = dt.UTC

CASES: dict[str, tuple[pa.Array, list[Any]]] = {
    "null": (pa.nulls(2), [None, None]),
    "bool": (pa.array([True, None]), [True, None]),
    "uint64": (pa.array([2**64 - 1, 0], pa.uint64()), [2**64 - 1, 0]),
    "half float": (pa.array([np.float16(0.5), None], pa.float16()), [0.5, None]),
    "decimal": (pa.array([Decimal("1.50"), None], pa.decimal128(5, 2)), [1.5, None]),
    "decimal of 256 bits": (pa.array([Decimal(10) ** 60], pa.decimal256(70, 0)), [1e60]),
    "duration": (pa.array([1_500, None], pa.duration("ms")), [1.5, None]),
    "duration of nanoseconds": (pa.array([1, 2**62], pa.duration("ns")), [1e-9, 2**62 / 1e9]),
    "timestamp": (pa.array([0, None], pa.timestamp("s")), ["1970-01-01T00:00:00", None]),
    "timestamp of nanoseconds": (pa.array([1], pa.timestamp("ns")), ["1970-01-01T00:00:00.000000001"]),
    "timestamp with a zone": (pa.array([3_600_000], pa.timestamp("ms", "Asia/Tokyo")), ["1970-01-01T01:00:00.000Z"]),
    "timestamp with an unknown zone": (pa.array([0], pa.timestamp("s", "No/Where")), ["1970-01-01T00:00:00Z"]),
    "timestamp beyond year 9999": (pa.array([253_402_300_800], pa.timestamp("s")), ["10000-01-01T00:00:00"]),
    "date": (pa.array([dt.date(2026, 1, 2), None]), ["2026-01-02", None]),
    "date of milliseconds": (pa.array([86_400_000], pa.date64()), ["1970-01-02"]),
    "date beyond year 9999": (pa.array([2**31 - 1], pa.int32()).view(pa.date32()), ["5881580-07-11"]),
    "time": (pa.array([dt.time(3, 4, 5)], pa.time32("s")), ["03:04:05"]),
    "time of nanoseconds": (pa.array([1], pa.time64("ns")), ["00:00:00.000000001"]),
    "interval": (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), [[1, 2, 3]]),
    "binary": (pa.array([b"a\xff", None]), ["a\\xff", None]),
    "binary of fixed size": (pa.array([b"ab"], pa.binary(2)), ["ab"]),
    "binary view": (pa.array([b"ab"], pa.binary_view()), ["ab"]),
    "large binary": (pa.array([b"\x00"], pa.large_binary()), ["\x00"]),
    "large string": (pa.array(["é", None], pa.large_string()), ["é", None]),
    "string view": (pa.array(["é"], pa.string_view()), ["é"]),
    "string that is no UTF-8": (pa.array([b"a\xff"]).view(pa.string()), ["a\\xff"]),
    "list of strings that are no UTF-8": (pa.ListArray.from_arrays([0, 1], pa.array([b"\xff"]).view(pa.string())), [["\\xff"]]),
    "dictionary": (pa.array(["a", "b", "a", None]).dictionary_encode(), ["a", "b", "a", None]),
    "dictionary of durations": (pa.array([1, 1], pa.duration("s")).dictionary_encode(), [1.0, 1.0]),
    "run-end encoded": (pa.RunEndEncodedArray.from_arrays([2, 3], ["x", None]), ["x", "x", None]),
    "list": (pa.array([[1.5, None], None, []]), [[1.5, None], None, []]),
    "list of durations": (pa.array([[1], None, [2, 3]], pa.list_(pa.duration("s"))), [[1.0], None, [2.0, 3.0]]),
    "large list": (pa.array([[b"a"]], pa.large_list(pa.binary())), [["a"]]),
    "list of fixed size": (pa.array([[1, 2], None], pa.list_(pa.duration("s"), 2)), [[1.0, 2.0], None]),
    "list view": (pa.array([[1], [2, 3]], pa.list_view(pa.duration("s"))), [[1.0], [2.0, 3.0]]),
    "large list view": (pa.array([[1]], pa.large_list_view(pa.int64())), [[1]]),
    "struct": (pa.array([{"a": 1, "b": b"x"}, None]), [{"a": 1, "b": "x"}, None]),
    "struct in a list": (pa.array([[{"d": dt.date(2026, 1, 2)}]]), [[{"d": "2026-01-02"}]]),
    "struct without fields": (pa.array([{}, None], pa.struct([])), [{}, None]),
    "struct with a name twice": (
        pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
        [{"a": 1, "a (2)": 2}],
    ),
    "map": (pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())), [{"a": 1}, None, {}]),
    "map of numbers": (pa.array([[(7, b"x")]], pa.map_(pa.int64(), pa.binary())), [{"7": "x"}]),
    "map with a key twice": (pa.array([[("a", 1), ("a", 2)]], pa.map_(pa.string(), pa.int64())), [[["a", 1], ["a", 2]]]),
    "uuid": (pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)], pa.binary(16))), [str(uuid.UUID(int=0))]),
    **(
        {"extension": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}'])), ['{"a": 1}'])}
        if hasattr(pa, "json_")  # not in the oldest release that the board takes
        else {}
    ),
    "tensor": (pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((1, 2), np.float32)), [[1.0, 1.0]]),
    "dense union": (
        pa.UnionArray.from_dense(
            pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([5]), pa.array([1], pa.duration("s"))]
        ),
        [5, 1.0],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_type_has_a_value(case: str) -> None:
    """A column of that type, whole or cut, becomes what JSON can hold, and a null nothing else."""
    array, expected = CASES[case]

    assert arrow_values.values(array) == expected
    assert arrow_values.values(array[1:]) == expected[1:]
    assert json.loads(json.dumps(expected)) == expected


def test_column_of_every_type_in_a_run(tmp_path: Path) -> None:
    """Rollouts with a column of any type that Parquet holds load whole, and nothing else about them is said."""
    count = 0
    for case, (array, _) in CASES.items():
        name = f"{count}.parquet"
        table = pa.table({"step": [1], "response": ["x"]}).append_column(f"c {case}", pa.chunked_array([array[:1]]))
        try:
            pq.write_table(table, tmp_path / name)
        except (pa.ArrowException, ValueError):  # Parquet has no such type
            (tmp_path / name).unlink(missing_ok=True)
            continue
        count += 1

    run = open_run(tmp_path)

    assert count > 35
    assert (run.report.rows, run.report.refused) == (count, 0)


def test_columns_of_one_name(tmp_path: Path) -> None:
    """Of columns that bear one name none is lost."""
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "a", "a (2)"])

    assert arrow_values.rows(batch) == [{"a": 1, "a (2)": 2, "a (2) (2)": 3}]
