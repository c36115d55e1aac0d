"""What the process that answers queries lets a query do: read one table, and nothing else in the world."""

import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from board.sql.sandbox_client import Limits
from board.sql.sandbox_table import STORED
from board.sql.sandbox_worker import answer, connect, refusal

LIMITS = {"seconds": 5, "memory": 256_000_000, "rows": 100, "bytes": 1_000_000, "threads": 2}

TABLE = pa.table({"step": [0, 0, 1], "reward": [1.0, None, 3.0]})

bystander = pd.DataFrame({"password": ["hunter2"]})


def reason(query: str) -> str:
    """Why there is no answer; fails where there is one."""
    found = answer(TABLE, query, LIMITS)
    assert found.schema.metadata.get(b"error"), found
    return bytes(found.schema.metadata[b"error"]).decode()


STATEMENTS = {
    "select": ("SELECT 1", ""),
    "with": ("WITH a AS (SELECT 1 AS step) SELECT * FROM a", ""),
    "from alone": ("FROM rollouts", ""),
    "values": ("VALUES (1)", ""),
    "describe": ("DESCRIBE rollouts", ""),
    "semicolon and comment": ("SELECT 1; -- done", ""),
    "semicolon in a text": ("SELECT ';' AS a", ""),
    "nothing": ("  ", "no query"),
    "a comment": ("-- SELECT 1", "no query"),
    "two": ("SELECT 1; SELECT 2", "2 statements"),
    "two, the second hidden": ("SELECT 1 /* */; /* */ DROP VIEW rollouts", "2 statements"),
    "insert": ("INSERT INTO rollouts VALUES (1, 2)", "INSERT"),
    "update": ("UPDATE rollouts SET reward = 0", "UPDATE"),
    "delete": ("DELETE FROM rollouts", "DELETE"),
    "create": ("CREATE TABLE a AS SELECT 1", "CREATE"),
    "function": ("CREATE MACRO avg(x) AS 0", "CREATE"),
    "drop": ("DROP VIEW rollouts", "DROP"),
    "copy": ("COPY (SELECT 1) TO 'out.csv'", "COPY"),
    "export": ("EXPORT DATABASE 'out'", "EXPORT"),
    "attach": ("ATTACH 'other.db'", "ATTACH"),
    "install": ("INSTALL httpfs", "LOAD"),
    "load": ("LOAD httpfs", "LOAD"),
    "set": ("SET enable_external_access = true", "SET"),
    "reset": ("RESET enable_external_access", "SET"),
    "pragma": ("PRAGMA enable_profiling", "PRAGMA"),
    "call": ("CALL pragma_version()", "CALL"),
    "prepare": ("PREPARE a AS SELECT 1", "PREPARE"),
    "execute": ("EXECUTE a", "EXECUTE"),
    "explain": ("EXPLAIN ANALYZE SELECT 1", "EXPLAIN"),
    "variable": ("SET VARIABLE a = 1", "SET"),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_one_select_alone(name: str) -> None:
    """One SELECT is let through, in whatever form; any other statement, or more than one, is refused by its kind."""
    query, wanted = STATEMENTS[name]

    found = refusal(duckdb.connect(":memory:"), query)

    assert wanted in found
    assert bool(wanted) == bool(found)


NO_FILES = "file system operations are disabled"
LOCKED = "configuration has been locked"

ATTACKS = {
    "read_csv": ("SELECT * FROM read_csv('{secret}')", NO_FILES),
    "read_csv of several": ("SELECT * FROM read_csv_auto(['{secret}'])", NO_FILES),
    "read_text": ("SELECT * FROM read_text('{secret}')", NO_FILES),
    "read_blob": ("SELECT * FROM read_blob('{secret}')", NO_FILES),
    "read_json": ("SELECT * FROM read_json('{secret}')", NO_FILES),
    "read_ndjson_objects": ("SELECT * FROM read_ndjson_objects('{secret}')", NO_FILES),
    "sniff_csv": ("SELECT * FROM sniff_csv('{secret}')", NO_FILES),
    "glob": ("SELECT * FROM glob('{folder}/*')", NO_FILES),
    "csv in quotes": ("SELECT * FROM '{secret}'", NO_FILES),
    "parquet in quotes": ("SELECT * FROM '{parquet}'", NO_FILES),
    "parquet_scan": ("SELECT * FROM parquet_scan('{parquet}')", NO_FILES),
    "parquet_metadata": ("SELECT * FROM parquet_metadata('{parquet}')", NO_FILES),
    "parquet_schema": ("SELECT * FROM parquet_schema('{parquet}')", NO_FILES),
    "another database": ("SELECT * FROM read_duckdb('{folder}/a.db')", NO_FILES),
    "by a query in a text": ("SELECT * FROM query('SELECT * FROM ''{secret}''')", NO_FILES),
    "by the name of a table": ("SELECT * FROM query_table('{secret}')", NO_FILES),
    "by a query in JSON": ("SELECT * FROM json_execute_serialized_sql(json_serialize_sql('FROM ''{secret}'''))", NO_FILES),
    "the environment as a file": ("SELECT * FROM read_text('/proc/self/environ')", NO_FILES),
    "extensions on the disk": ("SELECT * FROM duckdb_extensions()", NO_FILES),
    "write": ("WITH a AS (COPY (SELECT 1) TO '{folder}/out.csv') SELECT * FROM a", NO_FILES),
    "write a file called as the database": ("WITH a AS (COPY (SELECT 1) TO ':memory:') SELECT * FROM a", NO_FILES),
    "write its log": ("WITH a AS (COPY (SELECT 1) TO ':memory:.wal') SELECT * FROM a", NO_FILES),
    "write by a query in a text": ("SELECT * FROM query('COPY (SELECT 1) TO ''{folder}/out.csv''')", "single SELECT"),
    "the web": ("SELECT * FROM 'http://127.0.0.1:{port}/a.csv'", NO_FILES),
    "the web by read_csv": ("SELECT * FROM read_csv('http://127.0.0.1:{port}/a')", NO_FILES),
    "a bucket": ("SELECT * FROM 's3://bucket/a.parquet'", NO_FILES),
    "an extension by its function": ("SELECT * FROM sqlite_scan('{folder}/a.db', 't')", "not in the catalog"),
    "log to a file": ("SELECT * FROM enable_logging(storage='file', storage_path='{folder}/log')", LOCKED),
    "profile to a file": ("SELECT * FROM enable_profiling(save_location='{folder}/profile')", LOCKED),
    "the environment": ("SELECT getenv('HOME')", "getenv does not exist"),
    "a frame of this test": ("SELECT * FROM bystander", "bystander does not exist"),
    "a table of this module": ("SELECT * FROM TABLE", "syntax error"),
    "a local of the worker": ("SELECT * FROM connection", "connection does not exist"),
    "memory by its address": ("SELECT * FROM arrow_scan(1, 2, 3)", "No function matches"),
    "memory as pandas": ("SELECT * FROM pandas_scan(1)", "No function matches"),
    "Python": ("SELECT * FROM python_map_function((SELECT 1))", "python_map_function"),
    "insert inside": (
        "WITH a AS (INSERT INTO rollouts SELECT * FROM rollouts RETURNING *) SELECT * FROM a",
        "rollouts is not an",
    ),
    "delete inside": ("WITH a AS (DELETE FROM rollouts RETURNING *) SELECT * FROM a", "base table"),
    "update inside": ("WITH a AS (UPDATE rollouts SET reward = 0 RETURNING *) SELECT * FROM a", "base table"),
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A folder with files to read, the working folder too, and a port that fails the test when anybody calls."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("password\nhunter2\n")
    pd.DataFrame({"password": ["hunter2"]}).to_parquet(tmp_path / "secret.parquet")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield {
            "folder": str(tmp_path),
            "secret": str(tmp_path / "secret.csv"),
            "parquet": str(tmp_path / "secret.parquet"),
            "port": str(server.getsockname()[1]),
        }
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("name", ATTACKS)
def test_reaches_nothing_else(name: str, world: dict[str, str]) -> None:
    """A query that reads or writes a file, calls out, looks into the process or changes the table is refused, and has done nothing."""
    query, wanted = ATTACKS[name]
    before = sorted(Path(world["folder"]).iterdir())

    found = reason(query.format(**world))

    assert wanted in found
    assert "hunter2" not in found
    assert sorted(Path(world["folder"]).iterdir()) == before


def test_attacks_are_possible_without_the_settings(world: dict[str, str]) -> None:
    """What the settings forbid is there to be forbidden: DuckDB as it comes reads the file and the variable."""
    assert duckdb.execute(f"SELECT * FROM '{world['secret']}'").fetchall() == [("hunter2",)]
    assert duckdb.execute("SELECT * FROM bystander").fetchall() == [("hunter2",)]


def test_secrets_of_the_user_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys to buckets that the user once gave DuckDB are not among those a query can list."""
    monkeypatch.setenv("HOME", str(tmp_path))
    keeper = duckdb.connect(config={"secret_directory": str(tmp_path / ".duckdb" / "stored_secrets")})
    keeper.execute("CREATE PERSISTENT SECRET mine (TYPE http, BEARER_TOKEN 'hunter2')")
    listed = "SELECT name FROM duckdb_secrets()"

    assert keeper.sql(listed).fetchall() == [("mine",)]
    assert answer(TABLE, listed, LIMITS).num_rows == 0


@pytest.mark.parametrize(
    ("damage", "wanted"),
    [
        pytest.param(lambda path: path.unlink(), "cannot be read", id="gone"),
        pytest.param(lambda path: path.write_bytes(b"PAR1"), "cannot be read", id="cut off"),
        pytest.param(
            lambda path: path.write_bytes(path.read_bytes().replace(b"\xdb\x0fI@", b"\xdb\x0fI\xc0")), "checksum", id="one bit"
        ),
    ],
)
def test_damaged_files_are_no_answer(damage: Callable[[Path], None], wanted: str, tmp_path: Path) -> None:
    """A file of an index that is gone, cut off or other than it was written is an error in words, never another number."""
    path = tmp_path / "rows.parquet"
    numbers = pa.table({"rollout": [0, 1], "frame/reward": pa.array([3.1415927, 1.0], pa.float32())})
    pq.write_table(numbers, path, compression="none", use_dictionary=False, write_page_checksum=True, write_statistics=False)
    told = {"paths": [str(path)], "columns": {"rollout": "rollout", "reward": '"frame/reward"'}, "where": ""}
    table = pa.table({}).replace_schema_metadata({STORED: json.dumps(told).encode()})
    query = "SELECT sum(reward) FROM rollouts"
    assert answer(table, query, LIMITS).column(0)[0].as_py() == pytest.approx(4.1415927)

    damage(path)

    assert wanted in answer(table, query, LIMITS).schema.metadata[b"error"].decode()


OFF = (
    "enable_external_access",
    "python_enable_replacements",
    "autoinstall_known_extensions",
    "autoload_known_extensions",
    "allow_community_extensions",
    "allow_persistent_secrets",
)


def test_settings_are_on() -> None:
    """DuckDB says of itself that everything is off and locked."""
    found = dict(connect(TABLE, 100_000_000, 1).sql("SELECT name, value FROM duckdb_settings()").fetchall())

    assert {name: found[name] for name in OFF} == dict.fromkeys(OFF, "false")
    assert found["lock_configuration"] == "true"
    assert found["allowed_paths"] == found["allowed_directories"] == "[]"
    assert found["temp_directory"] == ""
    assert found["threads"] == "1"


def test_table_is_not_copied_nor_changed() -> None:
    """The answer is of the very table that was given, which stays as it was."""
    before = TABLE.to_pydict()

    found = answer(TABLE, "SELECT * FROM rollouts", LIMITS)

    assert found.to_pydict() == before == TABLE.to_pydict()


@pytest.mark.parametrize(("rows", "cut"), [(99, b""), (100, b""), (101, b"yes"), (1_000_000_000_000, b"yes")])
def test_rows_are_cut_and_told(rows: int, cut: bytes) -> None:
    """No more rows come back than the limit, in the query's own order, and the answer says whether there were more."""
    found = answer(TABLE, f"SELECT range AS step FROM range({rows})", LIMITS)

    assert found.column("step").to_pylist() == list(range(min(rows, 100)))
    assert found.schema.metadata[b"cut"] == cut


def test_large_answers_are_refused() -> None:
    """Few rows may be large, and are not sent."""
    assert "too large" in reason("SELECT repeat('x', 100000) FROM range(50)")


@pytest.mark.parametrize(
    "query", ["SELECT list_sort(list(i)) FROM range(100000000) t(i)", "SELECT string_agg(i::TEXT) FROM range(100000000) t(i)"]
)
def test_memory_is_limited(query: str) -> None:
    """A query that needs more memory than it may take is told so."""
    assert "Out of Memory" in reason(query)


def test_limits_are_what_the_worker_reads() -> None:
    """Every limit the board sends is one the worker knows."""
    assert set(asdict(Limits())) == set(LIMITS)
    assert json.loads(json.dumps(asdict(Limits()))) == asdict(Limits())
