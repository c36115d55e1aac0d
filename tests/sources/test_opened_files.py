"""Tests that rollouts open from whatever file holds them: Arrow, Feather, JSON, CSV, compressed lines; and what is said of a database."""

import bz2
import csv
import io
import json
import lzma
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pytest
from bounded import run_bounded
from rows import lines, token_row, write_run

from board import open_run
from board.errors import RowRefused, RunNotFound
from board.runs.library import HERE, list_runs
from board.runs.opening import opened_whole
from board.sources import candidates, files, json_stream, shards
from board.sources.files import Parsed
from board.sources.shards import Shard

ROWS = [token_row(step, reward=step / 2, response=f"é {step}", ground_truth="007" if step else "42") for step in range(150)]


def ipc(rows: list[dict[str, Any]], make: Callable[..., Any], **options: Any) -> bytes:
    """An Arrow table as one of the IPC kinds holds it, in batches of 100 rows."""
    table, sink = pa.Table.from_pylist(rows), io.BytesIO()
    with make(sink, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=100)
    return sink.getvalue()


def feathered(rows: list[dict[str, Any]]) -> bytes:
    """A Feather file as pandas and polars write it."""
    sink = io.BytesIO()
    feather.write_feather(pa.Table.from_pylist(rows), sink, compression="lz4")
    return sink.getvalue()


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    """A CSV file, lists in it as JSON."""
    sink = io.StringIO()
    writer = csv.writer(sink)
    writer.writerow(rows[0])
    writer.writerows([[json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for v in row.values()] for row in rows])
    return sink.getvalue().encode()


WRITERS: dict[str, tuple[str, Callable[[list[dict[str, Any]]], bytes]]] = {
    "Arrow file": ("a.arrow", lambda rows: ipc(rows, pa.ipc.new_file)),
    "Arrow stream, as datasets writes it": ("data-00000-of-00001.arrow", lambda rows: ipc(rows, pa.ipc.new_stream)),
    "Arrow stream of zstd": (
        "a.arrow",
        lambda rows: ipc(rows, pa.ipc.new_stream, options=pa.ipc.IpcWriteOptions(compression="zstd")),
    ),
    "Feather": ("a.feather", feathered),
    "JSON list": ("rollouts.json", lambda rows: json.dumps(rows).encode()),
    "JSON list over many lines": ("rollouts.json", lambda rows: json.dumps(rows, indent=1).encode()),
    "JSON lines named JSON": ("rollouts.json", lines),
    "JSON list named lines": ("rollouts.jsonl", lambda rows: json.dumps(rows, indent=1).encode()),
    "CSV": ("rollouts.csv", as_csv),
    "xz": ("rank_0.jsonl.xz", lambda rows: lzma.compress(lines(rows))),
    "bzip2": ("rank_0.jsonl.bz2", lambda rows: bz2.compress(lines(rows))),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_same_rollouts_from_every_container(tmp_path: Path, kind: str) -> None:
    """Steps, rewards, texts, tokens and arrays are those that were written, each row with its place and its raw record."""
    name, write = WRITERS[kind]
    (tmp_path / name).write_bytes(write(ROWS))

    run = open_run(tmp_path)

    assert (run.report.rows, run.report.problems, run.report.formats) == (150, [], {"native": 1})
    assert run.frame["reward"].tolist() == [step / 2 for step in range(150)]
    assert run.rollout(149).texts["response"] == "é 149"
    assert run.rollout(149).texts["ground_truth"] == "007"
    assert run.rollout(0).texts["ground_truth"] == "42"
    assert run.rollout(7).tokens == ["a", " b"]
    assert run.rollout(7)["logprobs"].tolist() == [-1.0, -2.0]
    assert json.loads(run.raw(149))["step"] == 149
    assert open_run(tmp_path).frame.equals(run.frame)


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind not in ("xz", "bzip2")])
@pytest.mark.parametrize("share", [0.2, 0.7, 0.99])
def test_cut_file_loses_only_its_end(tmp_path: Path, kind: str, share: float) -> None:
    """What stands before a cut loads, or nothing does, and the cut is said; nothing is invented."""
    name, write = WRITERS[kind]
    data = write(ROWS)
    (tmp_path / name).write_bytes(data[: int(len(data) * share)])

    run = opened_whole(tmp_path)

    assert run.report.problems or run.report.unfinished
    assert run.frame["step"].tolist() == [*range(run.report.rows)]


BESIDE: dict[str, bytes] = {
    "dataset_info.json": json.dumps({"features": {"step": {"dtype": "int64"}}}, indent=2).encode(),
    "state.json": b'{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}',
    "trainer_state.json": b'{"log_history": [{"step": 1, "loss": 2}]}',
    "config.json": b"{}",
    "empty.json": b"",
    "list.json": b"[]",
    "numbers.json": b"[1, 2]",
    "text.json": b'"x"',
}


@pytest.mark.parametrize("name", BESIDE)
def test_json_beside_rollouts_is_none(tmp_path: Path, name: str) -> None:
    """Configurations, states and results beside rollouts are neither rollouts nor errors."""
    write_run(tmp_path, {"a.jsonl": ROWS[:2], name: BESIDE[name]})

    run = open_run(tmp_path)

    assert (run.report.rows, run.report.problems, run.report.shards) == (2, [], 1)


def test_lists_and_tables_without_rollouts_are_left_out(tmp_path: Path) -> None:
    """A list of metrics and a table of them are listed as left out, with their keys."""
    write_run(tmp_path, {"a.jsonl": ROWS[:2], "log.json": b'[{"loss": 1}]', "progress.csv": b"loss,lr\n1,2\n"})

    assert {name: reason[-8:] for name, reason in open_run(tmp_path).report.skipped.items()} == {
        "log.json": "are loss",
        "progress.csv": "loss, lr",
    }


def test_table_beside_runs_makes_no_run_of_the_root(tmp_path: Path) -> None:
    """A `.csv` beside the folders of runs hides none of them; alone it is a run."""
    write_run(tmp_path, {"a/rank_0.jsonl": ROWS[:1], "results.csv": as_csv(ROWS[:1])})
    assert "a" in [folder.name for folder in list_runs(tmp_path)]

    (tmp_path / "a" / "rank_0.jsonl").unlink()
    assert [folder.name for folder in list_runs(tmp_path)] == [HERE]


def sqlite(path: Path) -> None:
    """A database as Python writes it."""
    with sqlite3.connect(path) as connection:
        connection.execute("create table rollouts (step)")


DATABASES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "SQLite": ("traces.db", sqlite, "sqlite3 -json traces.db"),
    "SQLite by any name": ("traces.xyz", sqlite, "sqlite3 -json traces.xyz"),
    "DuckDB": ("run.duckdb", lambda path: __import__("duckdb").connect(str(path)).close(), "duckdb run.duckdb"),
}


@pytest.mark.parametrize("kind", DATABASES)
def test_database_is_answered_by_how_to_export_it(tmp_path: Path, kind: str) -> None:
    """Whether its folder or itself is named; beside rollouts it is left out, and says the same."""
    name, make, how = DATABASES[kind]
    make(tmp_path / name)

    for location in (tmp_path, tmp_path / name):
        with pytest.raises(RunNotFound) as refused:
            open_run(location)
        assert how in str(refused.value)

    write_run(tmp_path, {"a.jsonl": ROWS[:2]})
    run = open_run(tmp_path)
    assert (run.report.rows, run.report.refused) == (2, 0)
    assert how in run.report.skipped[name]


CELLS: dict[str, Any] = {
    "42": 42,
    "-0.5": -0.5,
    "1.50": "1.50",
    "007": "007",
    "1e5": "1e5",
    "[1, 2]": [1, 2],
    "[1,2]": "[1,2]",
    '{"a": 1}': {"a": 1},
    "true": True,
    "null": "null",
    "None": "None",
    '"x"': '"x"',
    "9" * 5_000: "9" * 5_000,
    "[" * 5_000: "[" * 5_000,
}


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell[:12])
def test_cell_is_json_that_is_written_so(cell: str) -> None:
    """A cell that would be written in another way is text, so that no text is changed."""
    assert files.value(cell) == CELLS[cell]


ODD_CSV: dict[str, tuple[bytes, int, list[str]]] = {
    "cells too few": (b"step,response\n1,x\n2\n3,y\n", 2, ["has 1 cells for the 2 columns"]),
    "cells too many": (b"step,response\n1,x,z\n3,y\n", 1, ["has 3 cells for the 2 columns"]),
    "a name twice": (b"step,step\n1,x\n", 0, ["names a column twice"]),
    "line ends in a cell": (b'step,response\r\n1,"x\r\ny"\r\n', 1, []),
    "no UTF-8": (b"step,response\n1,\xff\n", 1, []),
    "a mark at the beginning": (b"\xef\xbb\xbfstep,response\n1,x\n", 1, []),
    "a quote without end": (b'step,response\n1,x\n2,"y\n3,z\n', 2, []),
    "zeros": (b"step,response\n1,\x00\n", 1, []),
    "nothing": (b"", 0, []),
    "a header alone": (b"step,response\n", 0, []),
}


@pytest.mark.parametrize("case", ODD_CSV)
def test_odd_tables(tmp_path: Path, case: str) -> None:
    """A row that does not fit the header is refused with its place; the others load."""
    data, rows, problems = ODD_CSV[case]
    path = tmp_path / "a.csv"
    path.write_bytes(data)

    items = [*files.read(Shard(path, "a.csv", len(data), 0))]

    assert sum(isinstance(one, Parsed) for one in items) == rows
    for said, item in zip(problems, (one for one in items if not isinstance(one, Parsed)), strict=True):
        assert said in str(item)


STREAMS: dict[str, tuple[bytes, list[str], str]] = {
    "list": (b' [1, {"a": "]"} ,[2]] ', ["1", '{"a": "]"}', "[2]"], ""),
    "one after another": (b'{"a":1}\n{"b":\n2}{}', ['{"a":1}', '{"b":\n2}', "{}"], ""),
    "empty list": (b"[]", [], ""),
    "nothing": (b" \n", [], ""),
    "cut list": (b"[1, 2", ["1", "2"], "ends early"),
    "cut value": (b'[1, {"a', ["1"], "is not JSON from here on"),
    "broken value": (b'{"a": 1} {"b" 2}', ['{"a": 1}'], "is not JSON from here on"),
    "comma before a brace": (b'{"a": 1}\n{\n "b": 2,\n}', ['{"a": 1}'], "a comma before } at line 2, column 8, which must go"),
    "deep": (b"[" * 100_000, [], "nested too deeply"),
    "too long": (b'{"a": "' + b"x" * 200_000 + b'"}', [], "longer than"),
}


@pytest.mark.parametrize("case", STREAMS)
def test_values_of_a_stream(case: str) -> None:
    """Values are found whole, in order, up to what is none."""
    data, expected, problem = STREAMS[case]
    found: list[str] = []

    try:
        found.extend(json_stream.texts(io.BytesIO(data), 100_000))
        said = ""
    except RowRefused as error:
        said = str(error)

    assert found == expected
    assert problem in said
    assert bool(problem) == bool(said)


def test_number_across_two_pieces_is_one() -> None:
    """A number that stands where one piece ends and the next begins is not cut in two."""
    for before in range(65_530, 65_540):
        data = b" " * before + b"[1234567890, 1.5e3]"
        assert [*json_stream.texts(io.BytesIO(data), 100_000)] == ["1234567890", "1.5e3"]


def test_large_files_are_read_in_pieces(tmp_path: Path) -> None:
    """A list, a table and an Arrow stream of 100 MB of rollouts each are gone through in little memory."""
    text, count = "x" * 1_000_000, 100
    with (tmp_path / "a.json").open("w") as stream:
        stream.write("[" + ",".join([json.dumps({"step": 1, "response": text})] * count) + "]")
    with (tmp_path / "a.csv").open("w") as stream:
        stream.write("step,response\n" + f"1,{text}\n" * count)
    batch = pa.record_batch({"step": [1], "response": [text]})
    with pa.ipc.new_stream(str(tmp_path / "a.arrow"), batch.schema) as writer:
        for _ in range(count):
            writer.write_batch(batch)

    told = run_bounded(
        "import resource, sys; from pathlib import Path; from board.sources import files, shards\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "found = shards.find_shards(Path(sys.argv[1]))[0]\n"
        "print(*(sum(1 for _ in files.read(shard)) for shard in found))\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)",
        tmp_path,
    )

    counts, megabytes = told.splitlines()
    assert counts == f"{count} {count} {count}"
    assert int(megabytes) < 90


def test_what_is_looked_for_is_what_is_taken() -> None:
    """The words that say what is looked for name every ending."""
    assert all(f"*{suffix}" in candidates.LOOKED_FOR for suffix in candidates.SUFFIXES)
    assert shards.bare_name("a/b.jsonl.xz") == "a/b"


def test_data_set_saved_by_its_library() -> None:
    """A folder of `datasets.save_to_disk` (by datasets 5.2.0) opens whole; its notes are no rollouts."""
    run = open_run(Path(__file__).parents[1] / "sources" / "saved_dataset")

    assert (run.report.rows, run.report.problems, run.report.skipped) == (5, [], {})
    assert sorted(run.frame["step"].tolist()) == [0, 0, 0, 1, 1]
    assert run.rollout(0).tokens == ["r", " x"]
