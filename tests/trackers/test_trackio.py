"""Tests of trackio as a tracker, with the real trackio and its local store."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rows import database

os.environ.setdefault("TRACKIO_DIR", tempfile.mkdtemp(prefix="trackio-test-"))  # trackio looks once, when it is imported

import trackio as library
from tracked import HOSTILE, PLAIN, REPOSITORY, STEPS, Steps, by_name, curves
from trackio.sqlite_storage import SQLiteStorage

from board.errors import BoardError
from board.trackers import trackio


@pytest.fixture
def project() -> str:
    """A project that no other test has."""
    return f"p {uuid.uuid4().hex}"


def write(project: str, run: str = "run ∑/1", steps: Steps = STEPS, **options: Any) -> Path:
    """A run written with our writer; where it is."""
    writer = trackio.open_writer(run, project=project, **options)
    for step, values in steps.items():
        writer.scalars(step, values)
    writer.close()
    return Path(writer.place)


def ours(path: Path) -> dict[str, dict[int, float]]:
    """The scalars that we find."""
    return curves(trackio.read, path)


def own(project: str, run: str = "run ∑/1") -> list[dict[str, Any]]:
    """What trackio's own reader gives, the times left out."""
    return [{key: value for key, value in row.items() if key != "timestamp"} for row in SQLiteStorage.get_logs(project, run)]


def test_what_is_written_is_read_back(project: str) -> None:
    """trackio's reader and ours find every number as the 64 bits it was."""
    place = write(project)
    database = SQLiteStorage.get_project_db_path(project)

    assert own(project) == [{"step": step, **values} for step, values in STEPS.items()]
    assert ours(place) == ours(database) == by_name(STEPS)
    assert database in trackio.find(database.parent)


def test_a_run_goes_on(project: str) -> None:
    """A run is gone on with by its name; one that is not to be gone on with gets another name."""
    write(project)
    writer = trackio.open_writer("run ∑/1", project=project)
    writer.scalars(13, {"reward/mean": 0.5})
    writer.close()
    assert ours(Path(writer.place)) == by_name(STEPS | {13: {"reward/mean": 0.5}})
    assert [row["step"] for row in own(project)] == [0, 1, 12, 13]

    for expected in ("run ∑/1-2", "run ∑/1-3"):
        another = trackio.open_writer("run ∑/1", project=project, resume="never")
        another.scalars(1, {"x": 1.0})
        another.close()
        assert another.name == expected


def test_the_run_logged_to_last_is_read(project: str) -> None:
    """Of a project of several runs the database gives the last one, and its path with a name that run."""
    first = write(project, "first", {1: {"x": 1.0}})
    write(project, "second", {1: {"x": 2.0}})

    assert ours(first.parent) == {"x": {1: 2.0}}
    assert ours(first) == {"x": {1: 1.0}}
    with pytest.raises(BoardError, match="no run is called third"):
        trackio.read(first.parent / "third")


def test_examples_are_a_table_of_text(project: str) -> None:
    """Rollouts go to a table whose strings are the model's text made plain, and leave no curve."""
    writer = trackio.open_writer("run", project=project)
    writer.scalars(1, {"x": 1.0})
    writer.examples(1, "examples/best", [{"reward": 1.5, "response": HOSTILE}, {"response": "b"}])
    writer.close()

    (table,) = [row["examples/best"]["_value"] for row in own(project, "run") if "examples/best" in row]
    assert [row["response"] for row in table] == [PLAIN, "b"]
    assert ours(Path(writer.place)) == {"x": {1: 1.0}}


def test_what_trainers_log_is_read(project: str) -> None:
    """Nested values are joined, NaN and infinity kept, names that trackio changes given back; true is 1, texts are texts."""
    run = library.init(project=project, name="run", embed=False, auto_log_cpu=False, auto_log_gpu=False)
    with pytest.warns(UserWarning, match="Reserved keys renamed"):
        run.log(
            {"actor": {"lr": 1e-6}, "up": float("inf"), "text": "1.5", "yes": True, "time": 3.0, "h": library.Histogram([1, 2])},
            step=3,
        )
    run.finish()

    assert ours(SQLiteStorage.get_project_db_path(project)) == {
        "actor/lr": {3: 1e-6},
        "up": {3: float("inf")},
        "time": {3: 3.0},
        "yes": {3: 1.0},
    }
    beside = trackio.read(SQLiteStorage.get_project_db_path(project))
    assert (beside.texts, beside.others) == ({"text": {3: "1.5"}}, ("h",))


def test_our_run_leaves_the_trainers_alone(project: str) -> None:
    """With a run of the trainer's open, ours is another, and closing it leaves theirs open."""
    run = library.init(project=project, name="theirs", embed=False, auto_log_cpu=False, auto_log_gpu=False)
    place = write(project, "ours")
    library.log({"loss": 1.0}, step=5)
    run.finish()

    assert ours(place) == by_name(STEPS)
    assert ours(place.parent / "theirs") == {"loss": {5: 1.0}}


@pytest.mark.parametrize(
    ("options", "reason"), [({"resume": "must"}, "does not exist"), ({"resume": "if"}, "resume must be one of")]
)
def test_what_trackio_does_not_take_is_said(project: str, options: dict[str, Any], reason: str) -> None:
    """A run that is not there, or a word that trackio does not know, is one error."""
    with pytest.raises(BoardError, match=reason):
        trackio.open_writer("run", project=project, **options)


TABLE = "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, step INTEGER, metrics TEXT)"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'r' AS run_name, i AS step, '{}' AS metrics FROM n"
REFUSED = {
    "another table": (["CREATE TABLE metrics (id INTEGER PRIMARY KEY, name TEXT)"], "no table of trackio's metrics"),
    "no table": (["CREATE TABLE other (id)"], "no table of trackio's metrics"),
    "a view without end": ([f"CREATE VIEW metrics AS {ENDLESS}"], "no table of trackio's metrics"),
    "metrics that are none": ([TABLE, "INSERT INTO metrics VALUES (1, 'r', 1, '[1]')"], "not an object"),
    "metrics that are bytes": ([TABLE, "INSERT INTO metrics VALUES (1, 'r', 1, x'ff00')"], "a row is no metrics"),
    "metrics that are null": ([TABLE, "INSERT INTO metrics VALUES (1, 'r', 1, NULL)"], "a row is no metrics"),
    "a step that is a text": ([TABLE, "INSERT INTO metrics VALUES (1, 'r', 'one', '{}')"], "a step is no whole number"),
}


@pytest.mark.parametrize(("statements", "reason"), REFUSED.values(), ids=REFUSED)
def test_databases_of_others_are_refused(tmp_path: Path, statements: list[str], reason: str) -> None:
    """A database that is not trackio's, or lies, gives an error that names it."""
    with pytest.raises(BoardError, match=f"x.db: .*{reason}"):
        trackio.read(database(tmp_path / "x.db", *statements))


def test_an_older_store_is_read(tmp_path: Path) -> None:
    """A store from before runs had ids is read by their names; an empty one has no curves."""
    rows = [f"INSERT INTO metrics VALUES ({step}, 'r', {step}, '{{\"x\": {step}}}')" for step in (1, 2)]

    assert ours(database(tmp_path / "x.db", TABLE, *rows)) == {"x": {1: 1.0, 2: 2.0}}
    assert ours(database(tmp_path / "empty.db", TABLE)) == {}


def test_damage_is_refused(project: str, tmp_path: Path) -> None:
    """A database cut short, overwritten or not there is an error that names it; none of that is found as a store."""
    data = write(project, steps={step: {"x": float(step)} for step in range(300)}).parents[1].read_bytes()
    for name, damaged in {
        "cut.db": data[: len(data) // 2],
        "over.db": data[:4096] + b"\xff" * 60_000,
        "text.db": b"text" * 999,
    }.items():
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(BoardError, match=name):
            trackio.read(tmp_path / name)
    with pytest.raises(BoardError, match="no such file"):
        trackio.read(tmp_path / "none.db")
    assert tmp_path / "text.db" not in trackio.find(tmp_path)


def test_a_store_is_left_as_it_is(project: str) -> None:
    """Looking for and reading a store leaves nothing beside it, and changes nothing in it."""
    store = write(project).parents[1]
    before = {path: path.read_bytes() for path in store.parent.iterdir()}
    trackio.find(store.parent)
    trackio.read(store)

    assert {path: path.read_bytes() for path in store.parent.iterdir()} == before


def test_ten_thousand_steps(tmp_path: Path) -> None:
    """Long runs are read whole, by their 60 metrics."""
    path = database(tmp_path / "x.db", TABLE)
    with closing(sqlite3.connect(path)) as made:
        values = ", ".join(f'"metric/{number}": 0.5' for number in range(60))
        made.executemany("INSERT INTO metrics VALUES (?, 'r', ?, ?)", [(step, step, f"{{{values}}}") for step in range(10_000)])
        made.commit()

    found = trackio.read(path)
    assert len(found) == 60
    assert all(len(curve.steps) == 10_000 for curve in found.values())


def test_one_store_in_a_process(project: str, tmp_path: Path) -> None:
    """trackio looks for its store once: another folder is refused, its own is not."""
    with pytest.raises(BoardError, match="one store in a process"):
        trackio.open_writer("run", project=project, dir=tmp_path)
    assert write(project, dir=library.TRACKIO_DIR).parents[1].parent == library.TRACKIO_DIR


OPENED = """
import sys
from board.errors import BoardError
from board.trackers import trackio
try:
    trackio.open_writer("run", **dict(zip(["dir"], sys.argv[1:])))
except BoardError as error:
    print(error)
"""


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/store"])
@pytest.mark.parametrize("given", ["as an argument", "as TRACKIO_DIR"])
def test_a_store_that_cannot_be_written_to_is_refused(tmp_path: Path, place: str, given: str) -> None:
    """Before a step is logged an error names the folder: trackio itself would warn in a thread and go on."""
    (tmp_path / "file").write_text("")
    store = str(tmp_path / place)
    argument, environment = ([store], {}) if given == "as an argument" else ([], {"TRACKIO_DIR": store})
    plain_environment = {key: value for key, value in os.environ.items() if key != "TRACKIO_DIR"}
    ended = subprocess.run(
        [sys.executable, "-c", OPENED, *argument],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=REPOSITORY,
        env=plain_environment | environment,
    )

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"{store}: no folder that can be written to (")
