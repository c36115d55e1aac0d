"""Files of every kind under every name that the board reads: nothing but a regular file is opened, and the run beside it loads."""

import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from rows import row, write_run

SHARDS: Final = ("0.pt", "b.jsonl", "b.jsonl.gz", "b.jsonl.zst", "b.parquet", "episode_1.json", "metrics.jsonl")
BESIDE: Final = (
    "a.jsonl.account.json",
    "rollouts.toml",
    "project.db",
    "events.out.tfevents.1.host",
    "run-x.wandb",
    "run-x.swanlab",
    "wal/real.db-wal",
    "shm/real.db-shm",
    "journal/real.db-journal",
)
"""What is read beside shards; each `real.db` is a database."""


def _sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 26)


OUTSIDE: Final = "/etc/hostname"

KINDS: Final[dict[str, Callable[[Path], object]]] = {
    "pipe": os.mkfifo,
    "socket": lambda path: socket.socket(socket.AF_UNIX).bind(os.fspath(path)),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "link to a terminal": lambda path: path.symlink_to("/dev/tty"),
    "link out of the root": lambda path: path.symlink_to(OUTSIDE),
    "link into proc": lambda path: path.symlink_to("/proc/self/environ"),
    "folder": lambda path: path.mkdir(),
    "sparse": _sparse,
}

CHILD: Final = """
import json, resource, sqlite3, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
from board import open_run
from board.analysis.steps import logged_curves
from board.errors import BoardError
from board.push.pushing import settled
root = Path(sys.argv[1])
for run in sorted(root.iterdir()):
    said = {"run": run.name}
    try:
        opened = open_run(run, within=root)
        said["rows"] = opened.frame[["shard", "step"]].to_numpy().tolist()
        said["problems"] = [str(problem) for problem in opened.report.problems]
        said["recording"] = opened.report.recording
        settled(opened, 30.0)
    except BoardError as error:
        said["refused"] = str(error)
    read = logged_curves.CurveReader().read([one for one in logged_curves.find(run, within=root) if one.path.is_relative_to(run)])
    said["scalars"] = [one.name for one in read.logged]
    said["unread"] = list(read.problems)
    print(json.dumps(said), flush=True)
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What a reader of its own, bounded in processor time and memory, says of a run for each kind, which stands under all names."""
    base = tmp_path_factory.mktemp("kinds")
    for kind, make in KINDS.items():
        run = write_run(base / "root" / kind, {"a.jsonl": [row(3)], "logs/metrics.jsonl": b'{"step": 3, "loss": 0.5}\n'})
        for name in (*SHARDS, *BESIDE):
            if kind == "sparse" and name == "rollouts.toml":
                continue  # which is refused as a mapping that is too large
            folder = (run / name).parent
            folder.mkdir(exist_ok=True)
            if folder != run:
                _database(folder / "real.db")
            with contextlib.chdir(folder):  # a socket's path may not be long
                make(Path(Path(name).name))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(base / "root")],
        env={**os.environ, "RL_BOARD_CACHE": str(base / "cache"), "RL_BOARD_LONGEST_LINE": "1000000"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])
    return {one["run"]: one for one in map(json.loads, done.stdout.splitlines())}


def _database(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, step INTEGER, metrics TEXT)")
        database.execute("INSERT INTO metrics VALUES (1, 'r', 3, ?)", ('{"loss": 1.5}',))
        database.commit()


@pytest.mark.parametrize("kind", KINDS)
def test_the_run_loads_beside_it(told: dict[str, dict[str, Any]], kind: str) -> None:
    """Its own row and scalars are there and nothing else; each shard that is no file is one problem, and each source that cannot be read."""
    said = told[kind]

    assert "refused" not in said
    assert (said["rows"], said["recording"]) == ([["a.jsonl", 3]], [])
    refused = sorted({problem.partition(":")[0] for problem in said["problems"]})
    assert refused == ([] if kind == "folder" else sorted(SHARDS))
    assert said["scalars"] == ["loss"] * (
        4 if kind == "sparse" else 3
    )  # of what lies beside a database its log alone is read, and zeros are an empty one
    assert socket.gethostname() not in json.dumps(said)
