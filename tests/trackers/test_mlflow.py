"""Tests of MLflow as a tracker: its folders of files, written with the real library, and a database that MLflow 3.17 wrote."""

import math
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tracked import HOSTILE, PLAIN, REPOSITORY, STEPS, Steps, by_name, curves

from board.analysis.steps.logged_curves import CurveReader, find
from board.errors import BoardError
from board.trackers import mlflow

DATABASE = Path(__file__).parents[1] / "trackers" / "written" / "mlflow_3_17.sql"
"""The tables of a store that MLflow 3.17.2 began where nothing else was said, and logged a run of three steps to."""

NAMED = {mlflow.metric_name(name): curve for name, curve in by_name(STEPS).items()}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder for a store; skips without the library."""
    pytest.importorskip("mlflow")
    return tmp_path / "mlruns"


def write(store: Path, run: str = "run ∑/1", steps: Steps = STEPS, run_id: str = "an id") -> Path:
    """A run written with our writer; its folder."""
    writer = mlflow.open_writer(run, dir=store, run_id=run_id)
    for step, values in steps.items():
        writer.scalars(step, values)
    writer.close()
    (found,) = [path for path in mlflow.find(store) if path.name in writer.place]
    return found


def database(folder: Path) -> Path:
    """The database, as MLflow left it."""
    path = folder / "mlflow.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(f"{DATABASE.read_text()}INSERT INTO tags SELECT 'device', 'cuda:0', run_uuid FROM runs;")
    return path


def test_what_is_written_is_read_back(store: Path) -> None:
    """MLflow's own reader and ours find every number as the 64 bits it was."""
    from mlflow import MlflowClient

    folder = write(store)
    client = MlflowClient(tracking_uri=store.as_uri())

    assert curves(mlflow.read, folder) == NAMED
    for name, curve in NAMED.items():
        assert {one.step: one.value for one in client.get_metric_history(folder.name, name)} == curve
    assert client.get_run(folder.name).info.status == "FINISHED"
    assert mlflow.runs(folder) == {"run ∑/1": folder}


@pytest.mark.parametrize("name", ["a: it's", "word " * 30 + "end", "run 😀", "1e5", "null", '"quoted"'])
def test_a_run_is_found_by_its_name_as_it_was_given(store: Path, name: str) -> None:
    """Whatever YAML writes for it: with its quotes doubled, over several lines, by the numbers of its characters."""
    folder = write(store, name)

    assert mlflow.runs(folder) == {name: folder}


def test_a_run_goes_on(store: Path) -> None:
    """A run is gone on with by its id, and a step that is handed over again is one point; another id is another run."""
    folder = write(store)
    writer = mlflow.open_writer("run", dir=store, run_id="an id")
    writer.scalars(12, STEPS[12])
    writer.scalars(13, {"reward/mean": 0.5})
    writer.close()
    assert curves(mlflow.read, folder)["reward/mean"] == {0: 0.1, 1: 1e300, 12: -0.25, 13: 0.5}

    another = mlflow.open_writer("run", dir=store, run_id="another id")
    another.close()
    assert another.place != writer.place


def test_examples_are_plain_text(store: Path) -> None:
    """Rollouts are a text file of the run's artifacts, what a model wrote made plain; they leave no curve."""
    writer = mlflow.open_writer("run", dir=store)
    writer.scalars(1, {"x": 1.0})
    writer.examples(1, "board/rollouts", [{"reward": 1.5, "response": HOSTILE}])
    writer.close()
    (folder,) = mlflow.find(store)

    text = (folder / "artifacts/board/rollouts/step_1.txt").read_text()
    assert all(line in text for line in PLAIN.split("\n"))
    assert curves(mlflow.read, folder) == {"x": {1: 1.0}}


NAMES = {
    "as it is": ("board/reward/mean-1_a.b c", "board/reward/mean-1_a.b c"),
    "what MLflow refuses": ("val/acc/mean@4", "val/acc/mean_40_4"),
    "up a folder": ("../../x", "__/__/x"),
    "empty parts": ("/a//", "_/a/_/_"),
    "a sum": ("∑", "_2211_"),
}


@pytest.mark.parametrize(("name", "taken"), NAMES.values(), ids=NAMES)
def test_names_as_mlflow_takes_them(store: Path, name: str, taken: str) -> None:
    """Every name is logged under one that MLflow takes and that stays within the run."""
    folder = write(store, steps={1: {name: 0.5}})

    assert mlflow.metric_name(name) == taken
    assert curves(mlflow.read, folder) == {taken: {1: 0.5}}


def test_the_database_that_mlflow_begins_by_itself(tmp_path: Path) -> None:
    """A run in it is found by its name and read, NaN included, without the library; the file is not changed."""
    file = database(tmp_path)
    before = file.read_bytes()
    (run,) = mlflow.runs(file).values()

    assert mlflow.find(tmp_path) == [file]
    assert [*mlflow.runs(file)] == ["my run"]
    for path in (file, run):
        read = curves(mlflow.read, path)
        assert read["train/reward"] == {0: 0.0, 1: 0.5, 2: 1.0}
        assert math.isnan(read["kl"].pop(1))
        assert read["kl"] == {0: 0.1, 2: 0.1}
        assert dict(mlflow.read(path).texts) == {"device": {0: "cuda:0"}}
    assert file.read_bytes() == before


def test_a_store_beside_a_run_is_its_scalars(tmp_path: Path) -> None:
    """`mlruns` beside the runs is looked through, and a run's name tells whose it is."""
    pytest.importorskip("mlflow")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write(tmp_path / "mlruns", name, {1: {"kl": 0.5}}, run_id=name)

    scalars = CurveReader().read(find(tmp_path / "a", None, tmp_path))

    assert scalars.problems == ()
    assert [(one.name, one.key) for one in scalars.logged] == [("kl", "kl/k3_mean")]


BROKEN = {
    "no number": b"1 x 1\n",
    "two fields": b"1 2\n",
    "a step that is none": b"1 2 1.5\n",
    "a line without end": b"1" * 10_000,
    "bytes": b"\xff\xfe \x00 1\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_damaged_file_is_named(tmp_path: Path, text: bytes) -> None:
    """A line that is no time, value and step is an error with file and line; the end that is being written is left for later."""
    (tmp_path / "metrics").mkdir()
    (tmp_path / "meta.yaml").write_text("run_name: 'it''s'\n")
    (tmp_path / "metrics" / "x").write_bytes(b"1 0.5 1\n" + text + b"\n")
    with pytest.raises(BoardError, match=r"metrics/x, line 2"):
        mlflow.read(tmp_path)

    (tmp_path / "metrics" / "x").write_bytes(b"1 0.5 1\n1 0.")
    assert curves(mlflow.read, tmp_path) == {"x": {1: 0.5}}


KILLED = """
import os, signal, sys
from pathlib import Path
from board.trackers import mlflow
writer = mlflow.open_writer("run", dir=sys.argv[1], run_id="an id")
for step in range(50):
    writer.scalars(step, {f"m/{number}": step / 7 for number in range(20)})
    if step == 20:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_costs_no_step(store: Path) -> None:
    """Each step has reached the store when the call returns: a kill loses none that was handed on."""
    command = [sys.executable, "-c", KILLED, str(store)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    subprocess.run(command, cwd=store.parent, env=environment, timeout=60, check=False)

    assert curves(mlflow.read, mlflow.find(store)[0])["m/19"] == {step: step / 7 for step in range(21)}
