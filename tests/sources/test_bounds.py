"""Lines without end, zeros and bombs: each ends in seconds of processor time within 1 GB, is one problem, and the rest loads."""

import gzip
import io
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from found_shards import only_shard
from rows import lines, row

from board.sources.shards import read_lines

CHILD: Final = """
import json, resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (90, 90))
from board import open_run
for folder in sorted(Path(sys.argv[1]).iterdir()):
    run = open_run(folder)
    again = open_run(folder)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "run": folder.name,
        "lines": run.frame[["step", "line"]].to_numpy().tolist(),
        "again": again.frame[["step", "line"]].to_numpy().tolist(),
        "problems": [str(one) for one in run.report.problems],
        "seconds": used.ru_utime + used.ru_stime,
        "memory": next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")),
    }), flush=True)
"""

GOOD: Final = lines([row(1)])
LAST: Final = lines([row(2)])


def _hole(path: Path, size: int, after: bytes = LAST) -> None:
    """A good row, zeros without a line end, and what comes after."""
    with path.open("wb") as file:
        file.write(GOOD)
        file.seek(len(GOOD) + size)
        file.write(after)
        file.truncate()


def _bomb(path: Path, compress: Callable[[bytes], bytes]) -> None:
    """A good row, then 16 GB of zeros."""
    path.write_bytes(compress(GOOD) + compress(bytes(64_000_000)) * 250)


def _zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def _line_of_letters(path: Path) -> None:
    with path.open("wb") as file:
        file.write(GOOD + b'{"step": 5, "response": "')
        for _ in range(270):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n' + LAST)


LONG = "is longer than 256,000,000 bytes (RL_BOARD_LONGEST_LINE), from byte"
DENSE = "decompressed it is more than 200 times as long"

CASES: Final[dict[str, tuple[str, Callable[[Path], object], list[list[int]], str]]] = {
    "a line of 270 MB": ("a.jsonl", _line_of_letters, [[1, 1], [2, 3]], f"a.jsonl:2: {LONG} {len(GOOD)} on"),
    "1.3 GB and a row": (
        "a.jsonl",
        lambda path: _hole(path, 5 << 28, b"\n" + LAST),
        [[1, 1], [2, 3]],
        f"a.jsonl:2: {LONG} {len(GOOD)} on",
    ),
    "1.3 GB without an end": (
        "a.jsonl",
        lambda path: _hole(path, 5 << 28, b""),
        [[1, 1]],
        f"a.jsonl:2: {LONG} {len(GOOD)} on: it is left out, with all that follows it",
    ),
    "a terabyte of zeros": ("a.jsonl", lambda path: _hole(path, 1 << 40, b"\n" + LAST), [[1, 1], [2, 3]], LONG),
    "a bomb of gzip": ("a.jsonl.gz", lambda path: _bomb(path, gzip.compress), [[1, 1]], DENSE),
    "a bomb of zstd": ("a.jsonl.zst", lambda path: _bomb(path, _zstd), [[1, 1]], DENSE),
    "a JSON file of zeros": (
        "episode_1.json",
        lambda path: _hole(path, 1 << 40),
        [[1, 1]],
        "episode_1.json:2: is longer than 256,000,000 bytes",
    ),
}


def said_of(base: Path, code: str) -> dict[str, dict[str, Any]]:
    """What a process says of each run."""
    environment = {**os.environ, "RL_BOARD_CACHE": str(base / "cache")}
    command = [sys.executable, "-c", code, str(base / "root")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    shutil.rmtree(base / "cache", ignore_errors=True)
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])
    return {one["run"]: one for one in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What one reader, bounded to 1 GB and 90 s of the processor, says of each run, opened twice."""
    base = tmp_path_factory.mktemp("bounds")
    for case, (name, make, _, _) in CASES.items():
        (base / "root" / case).mkdir(parents=True)
        make(base / "root" / case / name)
    return said_of(base, CHILD)


@pytest.mark.parametrize("case", CASES)
def test_what_has_no_end_ends(told: dict[str, dict[str, Any]], case: str) -> None:
    """The rows around it are there with their lines, it is one problem with its place, and no more than 1 GB was in memory."""
    _, _, rows, reason = CASES[case]
    said = told[case]

    assert (said["lines"], said["again"]) == (rows, rows)
    assert len([one for one in said["problems"] if reason in one]) == 1
    assert int(said["memory"]) * 1024 < 1 << 30


def _ipc(batch: pa.RecordBatch, make: Callable[..., Any] = pa.ipc.new_file, **options: Any) -> bytes:
    sink = io.BytesIO()
    with make(sink, batch.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _parquet(**columns: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, compression="zstd", dictionary_pagesize_limit=1 << 30)
    return sink.getvalue()


def _same(text: str, count: int) -> pa.Array:
    """One text for so many rows."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [text])


def _run(text: str, count: int) -> pa.Array:
    """One text for so many rows, as a run."""
    return pa.RunEndEncodedArray.from_arrays(pa.array([count], pa.int32()), pa.array([text]))


def _list_of(flat: pa.Array) -> pa.Array:
    """A list of all values, in one row."""
    return pa.ListArray.from_arrays(pa.array([0, len(flat)], pa.int32()), flat)


def _views(text: bytes, count: int) -> pa.Array:
    """So many texts of one piece of memory."""
    views = struct.pack("<i4sii", len(text), text[:4], 0, 0) * count
    return pa.Array.from_buffers(pa.string_view(), count, [None, pa.py_buffer(views), pa.py_buffer(text)])


def _steps(count: int) -> pa.Array:
    return pa.array(np.arange(count) // 100)


MANY: Final = 2_000_000
NULLS: Final = 2_000_000_000
ROWS: Final = "holds more than 1,048,576 rows in "
RATIO: Final = "times as many bytes as it has"
UNPACKED: Final = "when they are unpacked: it is not read"
LONG_ROW: Final = ":1: is longer than 256,000,000 bytes"

CONTAINERS: Final[dict[str, tuple[str, Callable[[], bytes], int, str]]] = {
    "Parquet of many rows": ("b.parquet", lambda: _parquet(step=_same("1", MANY)), 0, ROWS),
    "Parquet of one long text in every row": (
        "b.parquet",
        lambda: _parquet(step=_steps(2_000), response=_same("x" * 1_000_000, 2_000)),
        248,
        RATIO,
    ),
    "Parquet of a page": ("b.parquet", lambda: _parquet(step=[1], response=["x" * 300_000_000]), 0, UNPACKED),
    "Parquet of a list of one long text": (
        "b.parquet",
        lambda: _parquet(step=[1], response=["x"], x=_list_of(_same("x" * 900_000, 1_000_000))),
        0,
        LONG_ROW,
    ),
    "Parquet of a list of nothing": ("b.parquet", lambda: _parquet(step=[1], x=_list_of(pa.nulls(200_000_000))), 0, RATIO),
    "Arrow of many rows": ("b.arrow", lambda: _ipc(pa.record_batch({"step": pa.nulls(NULLS)})), 0, ROWS),
    "Arrow without columns": (
        "b.arrow",
        lambda: _ipc(pa.record_batch({"step": pa.nulls(NULLS)}).select([]), pa.ipc.new_stream),
        0,
        ROWS,
    ),
    "Arrow of compressed buffers": (
        "b.arrow",
        lambda: _ipc(pa.record_batch({"x": _list_of(pa.array(np.zeros(40_000_000)))}), compression="zstd"),
        0,
        UNPACKED,
    ),
    "an Arrow stream of compressed buffers": (
        "b.arrow",
        lambda: _ipc(pa.record_batch({"x": _list_of(pa.array(np.zeros(40_000_000)))}), pa.ipc.new_stream, compression="lz4"),
        0,
        UNPACKED,
    ),
    "Arrow of a list of nothing": (
        "b.feather",
        lambda: _ipc(pa.record_batch({"step": [1], "x": _list_of(pa.nulls(NULLS))})),
        0,
        LONG_ROW,
    ),
    "Arrow of views of one text": (
        "b.arrow",
        lambda: _ipc(pa.record_batch({"step": _steps(5_000), "response": _views(b"x" * 1_000_000, 5_000)})),
        255,
        RATIO,
    ),
    "Arrow of a run of one text": (
        "b.arrow",
        lambda: _ipc(pa.record_batch({"step": [1] * 64, "response": _run("x" * 10_000_000, 64)})),
        25,
        RATIO,
    ),
}
"""The file, the rows of it that load, and why not the others."""

LEGITIMATE: Final[dict[str, tuple[str, Callable[[], bytes], int]]] = {
    "Parquet of constant columns": (
        "b.parquet",
        lambda: _parquet(
            step=_steps(100_000), reward=np.ones(100_000), prompt=_same("p" * 400, 100_000), response=_same("r" * 80, 100_000)
        ),
        100_000,
    ),
    "Arrow of a dictionary": (
        "b.arrow",
        lambda: _ipc(
            pa.record_batch({"step": _steps(20_000), "prompt": _same("p" * 5_000, 20_000), "response": _same("r", 20_000)})
        ),
        20_000,
    ),
    "Parquet of tokens that repeat": (
        "b.parquet",
        lambda: _parquet(
            step=_steps(500),
            response=["the cat" * 300] * 500,
            response_tokens=[["the", " cat"] * 300] * 500,
            logprobs=[[-0.5] * 600] * 500,
            loss_mask=[[1] * 600] * 500,
        ),
        500,
    ),
    "gzip of a collapsed policy": ("b.jsonl.gz", lambda: gzip.compress(lines([row(1, response="a" * 1_000)] * 20_000)), 20_000),
}
"""What compresses far better than most and is what a trainer writes."""

COUNTING: Final = CHILD.replace('run.frame[["step", "line"]].to_numpy().tolist()', "len(run.frame)").replace(
    'again.frame[["step", "line"]].to_numpy().tolist()', "len(again.frame)"
)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What one reader, bounded to 1 GB, says of a run for each container, each beside one good row."""
    base = tmp_path_factory.mktemp("containers")
    for case, (name, make, *_) in (CONTAINERS | LEGITIMATE).items():
        run = base / "root" / case
        run.mkdir(parents=True)
        (run / "a.jsonl").write_bytes(GOOD)
        (run / name).write_bytes(make())
    return said_of(base, COUNTING.replace("(90, 90)", "(300, 300)"))


@pytest.mark.parametrize("case", CONTAINERS)
def test_a_small_container_fills_nothing(counted: dict[str, dict[str, Any]], case: str) -> None:
    """What gives far more than a trainer writes into so few bytes is one problem with its place; the good row is there."""
    name, _, rows, reason = CONTAINERS[case]
    said = counted[case]

    assert (said["lines"], said["again"]) == (rows + 1, rows + 1)
    assert [one for one in said["problems"] if one.startswith(name) and reason in one], said["problems"]


def test_a_compressed_file_has_no_end_of_lines(tmp_path: Path) -> None:
    """Short lines that a small file unpacks to are read up to the bound on rows, which is told last."""
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"step":1}\n' * MANY))

    *_, last = read_lines(only_shard(tmp_path))

    assert ROWS in str(last)


@pytest.mark.parametrize("case", LEGITIMATE)
def test_what_compresses_well_opens_whole(counted: dict[str, dict[str, Any]], case: str) -> None:
    """Constant columns, repeated tokens and a policy that says one thing are no bombs."""
    _, _, rows = LEGITIMATE[case]
    said = counted[case]

    assert (said["lines"], said["problems"]) == (rows + 1, [])
