"""A tracker that fails, hangs, is missing or is left open: training and the rows do not notice."""

import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from recorded import account, rows_of, shard_of, to

from board import trackers
from board.recorder import RolloutRecorder

ROOT = Path(__file__).parents[2]


def obstructed(folder: Path) -> dict[str, Any]:
    """Options of a tracker whose folder cannot be made, as a file is in its way."""
    (folder / "logs").write_text("a file where the folder should be")
    return {"track_with": "tensorboard", "tracker_kwargs": {"log_dir": folder / "logs"}}


def misconfigured(folder: Path) -> dict[str, Any]:
    """Options that the tracker does not know."""
    return {"track_with": "stdout", "tracker_kwargs": {"colour": "red"}}


@pytest.mark.parametrize("broken", [obstructed, misconfigured])
def test_a_tracker_that_fails_disturbs_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: Any) -> None:
    """Every row is written, every step the tracker did not get is counted, and it is said once."""
    with caplog.at_level(logging.WARNING), RolloutRecorder(tmp_path / "run", **broken(tmp_path)) as recorder:
        for step in range(10):
            recorder.write(step=step, response="a", reward=1.0)

    assert (len(rows_of(recorder.path())), recorder.dropped, recorder.untracked) == (10, 0, 10)
    assert len(caplog.records) == 1
    assert "the tracker fails" in caplog.text
    assert account(recorder.path())["lost"] == {"tracker": 10}


def run_script(script: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """A process of its own, to its end."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False, **options)


MISSING = """
import sys
sys.modules["tensorboard"] = None
from board.recorder import RolloutRecorder
with RolloutRecorder(sys.argv[1], track_with="tensorboard") as recorder:
    for step in range(5):
        recorder.write(step=step, response="a")
print(recorder.dropped, recorder.untracked)
"""

WITHOUT_PANDAS = MISSING.replace('["tensorboard"]', '["pandas"]')

CLOSED = """
import sys
from board.recorder import RolloutRecorder
with RolloutRecorder(sys.argv[1], track_with="stdout") as recorder:
    sys.stdout.close()
    for step in range(5):
        recorder.write(step=step, response="a")
print(recorder.dropped, recorder.untracked, file=sys.__stderr__)
"""

LEFT_OPEN = """
import sys
from board.recorder import RolloutRecorder
recorder = RolloutRecorder(sys.argv[1], track_with="stdout", tracker_kwargs={"format": "jsonl"})
for step in range(5):
    recorder.write(step=step, response="a")
"""


def test_a_library_that_is_missing_is_said_once(tmp_path: Path) -> None:
    """Without TensorBoard the run is recorded whole, and one warning says what to install."""
    ended = run_script(MISSING, tmp_path)

    assert (ended.returncode, ended.stdout) == (0, "0 5\n")
    assert (ended.stderr.count("pip install"), len(ended.stderr.splitlines())) == (1, 1)
    assert len(rows_of(shard_of(tmp_path))) == 5


def test_what_computing_needs_is_said_before_training(tmp_path: Path) -> None:
    """Without pandas no recorder that tracks is made: an error says what to install, as for a misspelt tracker."""
    ended = run_script(WITHOUT_PANDAS, tmp_path / "run")

    assert (ended.returncode, ended.stdout, (tmp_path / "run").exists()) == (1, "", False)
    assert "ImportError: track_with needs pandas" in ended.stderr
    assert ended.stderr.count("pip install pandas") == 1


UNANSWERED = """
import sys
from board.recorder import RolloutRecorder
login = {"api_key": "made up", "host": sys.argv[2]}
options = {"tracker_kwargs": {"login_kwargs": login, "logdir": sys.argv[3]}, "tracker_seconds": 1}
with RolloutRecorder(sys.argv[1], track_with="swanlab", **options) as recorder:
    recorder.write(step=0, response="a")
"""


def test_a_tracker_that_was_never_opened_is_given_up(tmp_path: Path) -> None:
    """A log-in that nobody answers holds up the end of training for as long as it may, with one warning and every rollout."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        ended = run_script(UNANSWERED, tmp_path / "run", address, tmp_path / "logs", env=os.environ | {"HOME": str(tmp_path)})

    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr.count("it did not end within 1 s") == ended.stderr.count("Recording rollouts") == 1
    assert len(rows_of(shard_of(tmp_path / "run"))) == 1


def test_a_closed_standard_output_is_survived(tmp_path: Path) -> None:
    """A tracker that writes to what was closed loses its steps, and training none of its rows."""
    ended = run_script(CLOSED, tmp_path)

    assert ended.returncode == 0
    assert ended.stderr.splitlines()[-1] == "0 5"
    assert len(rows_of(shard_of(tmp_path))) == 5


def test_the_end_of_the_interpreter_tells_the_last_step(tmp_path: Path) -> None:
    """A recorder that nobody closes tells the tracker all its steps before the process ends."""
    ended = run_script(LEFT_OPEN, tmp_path)

    assert [json.loads(line)["step"] for line in ended.stdout.splitlines()] == [0, 1, 2, 3, 4]
    assert (ended.returncode, ended.stderr) == (0, "")


EVERY: dict[str, dict[str, Any]] = {
    "tensorboard": {"log_dir": "logs"},
    "wandb": {"project": "p", "name": "n", "notes": "why", "tags": ["a"], "dir": "logs", "mode": "offline"},
    "swanlab": {"project": "p", "experiment_name": "n", "tags": ["a"], "logdir": "logs", "mode": "offline"},
    "trackio": {"project": "p", "name": "n", "dir": "logs"},
    "mlflow": {"project": "p", "name": "n", "dir": "logs"},
}
"""The keys that people have for each tracker, and that it is to stay on this machine."""

EVERYWHERE = """
import json, sys
from pathlib import Path
from board.recorder import RolloutRecorder
Path("logs").mkdir()
with RolloutRecorder("run", **json.loads(sys.argv[1])) as recorder:
    for step in range(20):
        recorder.write(step=step, response="a", reward=step / 8)
        recorder.track(step, {"actor/lr": 0.5})
print(recorder.dropped, recorder.untracked)
"""


@pytest.mark.parametrize("tracker", EVERY)
def test_every_tracker_gets_every_step(tmp_path: Path, tracker: str) -> None:
    """With the real library, in the recorder's own thread and without a network: both kinds of numbers, each step once."""
    pytest.importorskip(tracker)
    options = json.dumps({"track_with": tracker, "tracker_kwargs": EVERY[tracker]})
    command = [sys.executable, "-c", EVERYWHERE, options]
    # W&B leaves in the environment the address of its service, which here may be another test's and about to end
    own = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_SERVICE")}
    environment = own | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)

    assert (ended.returncode, ended.stdout.splitlines()[-1:]) == (0, ["0 0"]), ended.stderr
    (path,) = trackers.tracker(tracker).find(tmp_path / "logs")
    curves = trackers.tracker(tracker).read(path)
    assert curves["board/reward/mean"].steps.tolist() == curves["actor/lr"].steps.tolist() == [*range(20)]
    assert curves["board/reward/mean"].values.tolist() == [step / 8 for step in range(20)]


@pytest.fixture
def stuck() -> Iterator[Any]:
    """A stream that blocks: a pipe that is full and that nobody reads until the test is over."""
    outlet, inlet = os.pipe()
    os.set_blocking(inlet, False)
    for size in (65_536, 1):
        try:
            while True:
                os.write(inlet, b"x" * size)
        except BlockingIOError:
            pass
    os.set_blocking(inlet, True)
    reader = os.fdopen(outlet, "rb")
    with os.fdopen(inlet, "w") as stream:
        yield stream
        drain = threading.Thread(target=reader.read, daemon=True)
        drain.start()
    drain.join(30)


def test_a_tracker_that_hangs_holds_up_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture, stuck: Any) -> None:
    """Rows are written while it hangs, its queue has an end, closing waits as long as told, and every step it missed is counted."""
    with caplog.at_level(logging.WARNING):
        recorder = RolloutRecorder(tmp_path, tracker_seconds=0.2, queue_bytes=5_000, wait=True, **to(stuck))
        for step in range(100):
            recorder.write(step=step, response="a" * 100)
            recorder.track(step, {"loss": 1.0})
        written = len(rows_of(recorder.path()))
        started = time.monotonic()
        recorder.close()
        seconds = time.monotonic() - started

    assert (written, recorder.dropped) == (100, 0)
    assert seconds < 5
    assert recorder.untracked >= 100
    assert all(words in caplog.text for words in ("queue is full", "did not end within 0.2 s"))
    assert set(account(recorder.path())["lost"]) == {"tracker", "tracker_queue"}
