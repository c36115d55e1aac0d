"""One number, logged for a run of a name by each tracker, in the folder of logs that the tracker or a trainer would take."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from wandb_runs import wait_for_end

from board import trackers

REPOSITORY = Path(__file__).parents[2]


def jsonl(path: Path, rows: list[dict[str, float]]) -> Path:
    """A metrics.jsonl."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def in_wandb(root: Path, name: str) -> None:
    """A run of W&B beside the runs, its curve called after it."""
    write_run("wandb", name, dir=root, mode="offline")
    for folder in (root / "wandb").glob("offline-run-*"):
        wait_for_end(folder)


def in_swanlab(root: Path, name: str) -> None:
    """The same of SwanLab."""
    write_run("swanlab", name, logdir=root / "swanlog", mode="offline")


def in_a_timed_folder(root: Path, name: str) -> None:
    """The same of TensorBoard, as the recorder names its folders."""
    write_run("tensorboard", name, log_dir=root / "tensorboard")


def in_a_folder_of_lines(root: Path, name: str) -> None:
    """A metrics.jsonl in a folder named after the run."""
    jsonl(root / "logs" / name / "metrics.jsonl", [{"step": 1, f"curve of {name}": 1.0}])


def in_trackio(root: Path, name: str) -> None:
    """A run in a project's database, written in a process of its own: trackio has one store in each."""
    code = f"""
from board.trackers import trackio
writer = trackio.open_writer({name!r}, dir={str(root / "trackio")!r})
writer.scalars(1, {{"curve of {name}": 1.0}})
writer.close()
"""
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True, timeout=60)


def write_run(tracker: str, name: str, **options: Any) -> None:
    """One number, logged with the tracker's library under a name that tells the run."""
    writer = trackers.tracker(tracker).open_writer(name, **options)
    writer.scalars(1, {f"curve of {name}": 1.0})
    writer.close()


def in_mlflow(root: Path, name: str) -> None:
    """A run in a folder of files, as MLflow lays it out."""
    folder = root / "mlruns" / "0" / "abc"
    (folder / "metrics").mkdir(parents=True)
    (folder / "meta.yaml").write_text(f"run_name: {name}\n")
    (folder / "metrics" / f"curve of {name}").write_text("1700000000000 1.0 1\n")


def in_a_database_of_mlflow(root: Path, name: str) -> None:
    """A run in the tables of a database that MLflow's reader asks for."""
    (root / "mlruns").mkdir()
    with closing(sqlite3.connect(root / "mlruns" / "mlflow.db")) as store:
        store.execute("CREATE TABLE runs (run_uuid TEXT, name TEXT, start_time INTEGER)")
        store.execute(
            "CREATE TABLE metrics (run_uuid TEXT, key TEXT, value REAL, step INTEGER, is_nan INTEGER, timestamp INTEGER)"
        )
        store.execute("INSERT INTO runs VALUES ('abc', ?, 1)", (name,))
        store.execute("INSERT INTO metrics VALUES ('abc', ?, 1.0, 1, 0, 1)", (f"curve of {name}",))
        store.commit()


def in_a_checkpoint(root: Path, name: str) -> None:
    """The state of a Trainer of transformers."""
    folder = root / "logs" / name
    folder.mkdir(parents=True)
    (folder / "trainer_state.json").write_text(json.dumps({"log_history": [{"step": 1, f"curve of {name}": 1.0}]}))
