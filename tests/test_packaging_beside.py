"""The board beside a trainer: what it is installed among stays as it was, and the recorder works there. Slow: it installs a trainer."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import python_with

REPOSITORY = Path(__file__).parent.parent

BESIDE = (
    "torch==2.13.0",
    "trl==1.16.0",
    "transformers>=5.16.1,<5.20.0",
    "datasets",
    "mistral_common[image]>=1.11.6",
    "numba==0.65.0",
    "mlflow",
)
"""TRL with what it trains on; of vllm 0.32, which is built for GPUs, the requirements that hold numpy and Arrow back; and a tracker."""

RECORD = """
import sys
from board.recorder import RolloutRecorder
with RolloutRecorder(sys.argv[1]) as recorder:
    recorder.write(step=0, response="a", logprobs=[-1.0], response_tokens=["a"])
assert recorder.dropped == 0
try:
    from board import open_run
    from board.sql.query import evaluate
    evaluate(open_run(sys.argv[1]).frame, "SELECT step, 1 AS y FROM rollouts")
except Exception as error:
    print(error)
"""

pytestmark = pytest.mark.installs


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter among a trainer's packages: the one RL_BOARD_BESIDE_PYTHON names, else that of a new environment."""
    return python_with(tmp_path_factory.mktemp("beside"), "RL_BOARD_BESIDE_PYTHON", *BESIDE)


def pip(python: str, *arguments: str) -> str:
    """What pip printed; fails when pip does."""
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def installed(python: str) -> dict[str, str]:
    """The version of every package there."""
    listed: list[dict[str, Any]] = json.loads(pip(python, "list", "--format", "json"))
    return {one["name"].lower().replace("_", "-"): one["version"] for one in listed}


def test_whole_board_changes_no_package(python: str, tmp_path: Path) -> None:
    """pip adds what the board needs and is not there, and would neither upgrade nor downgrade anything that is."""
    there = installed(python)
    report = tmp_path / "report.json"

    pip(python, "install", "--dry-run", "--report", str(report), str(REPOSITORY))

    added = {one["metadata"]["name"].lower().replace("_", "-") for one in json.loads(report.read_text())["install"]}
    assert {"rl-logging-board", "streamlit", "duckdb"} <= added
    assert sorted(added & (there.keys() - {"rl-logging-board"})) == []


def test_recorder_alone_adds_itself_alone(python: str, tmp_path: Path) -> None:
    """Installed with orjson and without dependencies the recorder writes, nothing else has changed, and opening a run says what is missing."""
    there = installed(python)
    pip(python, "install", "--no-deps", "--target", str(tmp_path / "site"), str(REPOSITORY), "orjson")
    assert installed(python) == there

    ended = subprocess.run(
        [python, "-c", RECORD, str(tmp_path / "run")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert ended.returncode == 0, ended.stderr
    assert re.search(rf"needs (\S+), which is not installed: {re.escape(shlex.quote(python))} -m pip install \1 ", ended.stdout)
    assert (tmp_path / "run").is_dir()
