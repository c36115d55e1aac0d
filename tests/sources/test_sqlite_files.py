"""Databases of trackers are read as copies: what is computed when it is read is no table, and nothing is written where they lie."""

import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from bounded import run_bounded
from rows import database

from board.errors import BoardError
from board.sources import sqlite_files

ENDLESS = (
    "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'a' AS run_id, "
    "'a' AS run_uuid, 'r' AS run_name, 'r' AS name, i AS timestamp, i AS start_time, i AS step, 'k' AS key, i AS value, 0 AS is_nan, "
    "'[]' AS messages, '{}' AS metadata, '{\"x\": 1}' AS metrics FROM n"
)
TABLES = {
    "traces": "id, run_id, run_name, timestamp, step, key, messages, metadata",
    "metrics": "id, run_id, run_name, timestamp, step, metrics, run_uuid, key, value, is_nan",
    "runs": "run_uuid, name, start_time",
}


def _all(made: Callable[[str, str], str]) -> list[str]:
    return [ENDLESS, *(made(name, columns) for name, columns in TABLES.items())]


def _computed(name: str, columns: str) -> str:
    first, _, others = columns.partition(", ")
    return f"CREATE TABLE {name} ({first}, {others}, huge AS (hex(zeroblob(400000000))))"


COMPUTED = {
    "views without end": _all(lambda name, _: f"CREATE VIEW {name} AS SELECT * FROM endless"),
    "virtual tables over a view": _all(
        lambda name, columns: (
            f"CREATE VIRTUAL TABLE {name} USING fts5({columns.replace(' metrics,', '')}, content='endless', content_rowid='id')"
        )
    ),
    "columns that are computed": _all(_computed),
}

CHILD = """
import json, sys
from pathlib import Path
from board.errors import BoardError
from board.sources import trackio_rollouts
from board.trackers import mlflow, trackio
file = Path(sys.argv[1])
said = []
for ask in (mlflow.read, trackio.read, trackio.runs):
    try:
        said.append(str(ask(file)))
    except BoardError as error:
        said.append(str(error))
rows = [*trackio_rollouts.rows(file, 1 << 20)]
found = [mlflow.find(file.parent), trackio.find(file.parent), trackio_rollouts.holds(file, file.parent)]
print(json.dumps([said, mlflow.runs(file), *found, rows]))
"""


@pytest.mark.parametrize("statements", COMPUTED.values(), ids=COMPUTED)
def test_what_is_computed_is_no_table(tmp_path: Path, statements: list[str]) -> None:
    """Of MLflow's and trackio's tables and rollouts alike, within seconds and little memory."""
    told = run_bounded(CHILD, database(tmp_path / "x.db", *statements), megabytes=2_500)

    said, *others = json.loads(told)
    assert [reason.rpartition(": ")[2] for reason in said] == ["no store of MLflow."] + ["no table of trackio's metrics."] * 2
    assert others == [{}, [], [], False, []]


def test_a_log_is_read_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    """What a writer has in its log counts; the folder stays as it is, and no copy is left."""
    with closing(sqlite3.connect(tmp_path / "writer.db")) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t (x)")
        writer.execute("INSERT INTO t VALUES (1)")
        writer.commit()
        folder = tmp_path / "run"
        folder.mkdir()
        for ending in ("", "-wal"):
            (folder / f"a.db{ending}").write_bytes((tmp_path / f"writer.db{ending}").read_bytes())
    before = [(path.name, path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(folder.iterdir())]
    folder_changed, copies = folder.stat().st_mtime_ns, {*Path(tempfile.gettempdir()).iterdir()}

    with sqlite_files.opened(folder / "a.db", "x") as found:
        assert found.execute("SELECT x FROM t").fetchall() == [(1,)]

    assert [(path.name, path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(folder.iterdir())] == before
    assert folder.stat().st_mtime_ns == folder_changed
    left = {*Path(tempfile.gettempdir()).iterdir()} - copies
    assert not [path for path in left if path.name.startswith("rl-logging-board-")]


def test_a_journal_is_not_followed(tmp_path: Path) -> None:
    """It may name any file of the machine, which SQLite would read and remove."""
    file = database(tmp_path / "a.db", "CREATE TABLE t (x)")
    (tmp_path / "a.db-journal").symlink_to("/dev/zero")

    with sqlite_files.opened(file, "x") as found:
        assert sqlite_files.columns(found, "t") == {"x"}


LONG = {"a long text": "SELECT hex(zeroblob(1000))", "a long row": "SELECT x FROM t", "a question without end": ENDLESS[23:]}


@pytest.mark.parametrize("question", LONG.values(), ids=LONG)
def test_a_question_ends(tmp_path: Path, question: str) -> None:
    """A text or row beyond the bound, and a question beyond its time, are one error that names the database."""
    file = database(tmp_path / "a.db", "CREATE TABLE t (x)", f"INSERT INTO t VALUES ('{'x' * 2_000}')")

    with (
        pytest.raises(BoardError, match=r"a\.db: no database of x, or a damaged one"),
        sqlite_files.opened(file, "x", seconds=0.5, longest=1_500) as found,
    ):
        found.execute(question).fetchall()
