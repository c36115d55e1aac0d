"""Tests of `push` that is killed, interrupted or follows a run that grows: what is lost, and that what is doubled is the same."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pushed import OFFLINE, REPOSITORY, expected, grown, held, in_tensorboard, lines, pushed, started, texts_in_tensorboard

from board import trackers
from board.recorder import RolloutRecorder
from board.trackers.contract import Curves


def waited(process: subprocess.Popen[str], has_come: Callable[[], bool]) -> None:
    """Until something has come while the process runs."""
    until = time.monotonic() + 60
    while not has_come():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def kill(process: subprocess.Popen[str]) -> None:
    """As the system does it when memory is out."""
    process.kill()
    process.communicate(timeout=60)


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def curves_in(folder: Path) -> Curves:
    """What a run of TensorBoard holds so far; nothing before it has begun."""
    return trackers.tracker("tensorboard").read(folder) if size(folder) else Curves({})


def last_in(folder: Path) -> int:
    """The last step that a run of TensorBoard holds so far."""
    return max((int(curve.steps[-1]) for curve in curves_in(folder).values()), default=-1)


def test_a_kill_costs_no_step_and_doubles_those_of_its_push_alone(tmp_path: Path) -> None:
    """Killed again and again in the middle, TensorBoard holds every step when it is through, with the board's numbers."""
    grown(tmp_path / "run", range(150))
    arguments = (tmp_path / "run", "--to", "tensorboard", "--log-dir", tmp_path / "tb")
    for _ in range(2):
        process, before = started(*arguments), size(tmp_path / "tb")
        waited(process, lambda: size(tmp_path / "tb") > before + 20_000)  # noqa: B023 - called at once
        kill(process)
    pushed(*arguments)
    found = in_tensorboard(tmp_path / "tb" / "run")
    assert {name: sorted(set(points)) for name, points in found.items()} == expected(tmp_path / "run", np.float32)

    pushed(*arguments)
    assert in_tensorboard(tmp_path / "tb" / "run") == found


def test_a_kill_prints_again_what_its_push_printed(tmp_path: Path) -> None:
    """Of what went to a terminal nobody can tell what arrived: what was not noted is printed again."""
    grown(tmp_path / "run", range(300))
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", "--resume")
    process = started(*arguments, output=tmp_path / "first")
    waited(process, lambda: (tmp_path / "first").stat().st_size > 5_000)
    kill(process)
    second, _ = pushed(*arguments)

    assert [line["step"] for line in lines(second)] == [*range(300)]
    assert lines(pushed(*arguments)[0]) == []


@pytest.mark.parametrize(("tracker", "seconds"), [*zip(OFFLINE, [0, 0.3] * 2, strict=True)])
def test_a_kill_costs_other_trackers_no_step(tmp_path: Path, tracker: str, seconds: float) -> None:
    """What a killed push had not yet handed over to the tracker's files is pushed by the next one."""
    pytest.importorskip(tracker)
    grown(tmp_path / "run", range(60), rollouts=1)
    arguments = (tmp_path / "run", "--to", tracker, "--log-dir", tmp_path / "logs", *OFFLINE[tracker])
    process = started(*arguments, "--follow")
    waited(process, lambda: any((tmp_path / "state" / "push").glob("*.json")))
    time.sleep(seconds)
    kill(process)
    process = started(*arguments)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    steps = {name: [step for step, _ in curve] for name, curve in held(tracker, tmp_path / "logs").items()}
    assert steps["board/reward/mean"] == [*range(60)]


KILLED_AT_THE_END = """
import os, signal, sys
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
ends = {
    "tensorboard": ("tensorboard.summary.writer.record_writer", "RecordWriter", "close"),
    "wandb": ("wandb.sdk.wandb_run", "Run", "finish"),
    "swanlab": ("swanlab.sdk.internal.run", "Run", "finish"),
    "trackio": ("trackio.run", "Run", "finish"),
    "mlflow": ("mlflow", "MlflowClient", "set_terminated"),
}
from importlib import import_module
if sys.argv[1] == "trackio":
    os.environ["TRACKIO_DIR"] = sys.argv[2]
module, kind, name = ends[sys.argv[1]]
setattr(getattr(import_module(module), kind), name, kill)
from board.cli.main import main
main(["push", *sys.argv[3:]])
"""
"""A push whose process is killed as the tracker's library begins to end the run: what that still held back is lost."""


@pytest.mark.parametrize("tracker", ["tensorboard", *OFFLINE])
def test_a_kill_at_the_end_costs_no_step(tmp_path: Path, tracker: str) -> None:
    """A step counts as pushed once the tracker has it, not once its library took it: the last steps of a killed push are pushed again."""
    pytest.importorskip(tracker)
    grown(tmp_path / "run", range(9), rollouts=1)
    where = ["--to", tracker, "--log-dir", str(tmp_path / "logs"), *OFFLINE.get(tracker, [])]
    command = [sys.executable, "-c", KILLED_AT_THE_END, tracker, str(tmp_path / "logs"), str(tmp_path / "run"), *where]
    env = {name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"} | {"PYTHONPATH": str(REPOSITORY)}
    ended = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    process = started(tmp_path / "run", *where)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    steps = {name: [step for step, _ in curve] for name, curve in held(tracker, tmp_path / "logs").items()}
    assert steps["board/reward/mean"] == [*range(9)]


@pytest.mark.slow
@pytest.mark.parametrize("tracker", ["tensorboard", *OFFLINE])
def test_kills_at_any_instant_cost_no_step(tmp_path: Path, tracker: str) -> None:
    """Killed at random instants, opening and closing among them, until one push comes through: every step is there."""
    pytest.importorskip(tracker)
    grown(tmp_path / "run", range(40), rollouts=1)
    arguments = (tmp_path / "run", "--to", tracker, "--log-dir", tmp_path / "logs", *OFFLINE.get(tracker, []))
    draw = np.random.default_rng(11)
    for _ in range(14):
        process = started(*arguments)
        begun = tmp_path / "state" / "push"
        until = time.monotonic() + 60
        while process.poll() is None and not any(begun.glob("*.json")) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 6))
        kill(process)
    process = started(*arguments)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    steps = {name: [step for step, _ in curve] for name, curve in held(tracker, tmp_path / "logs").items()}
    assert steps["board/reward/mean"] == [*range(40)]


def test_a_growing_run_is_followed(tmp_path: Path) -> None:
    """Steps are pushed as they become complete, the last once nothing was written for a while, and findings as they are found;
    Ctrl+C ends it in order."""
    (tmp_path / "run").mkdir()
    arguments = ("--to", "tensorboard", "--log-dir", tmp_path / "tb", "--follow", "--quiet", 2)
    process = started(tmp_path / "run", *arguments)
    try:
        for rank in (0, 1):
            grown(tmp_path / "run", range(3), rank=rank)
        waited(process, lambda: last_in(tmp_path / "tb" / "run") == 2)
        with RolloutRecorder(tmp_path / "run") as recorder:
            for step in range(3, 6):
                recorder.write(step=step, response="a", reward=1.0)
                recorder.flush()
            waited(process, lambda: last_in(tmp_path / "tb" / "run") == 5)
            waited(process, lambda: "board/findings" in curves_in(tmp_path / "tb" / "run").texts)
            (noted,) = (tmp_path / "state" / "push").glob("*.json")
            assert json.loads(noted.read_bytes())["last"] in range(2, 5)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
    finally:
        process.kill()

    assert process.returncode == 0, errors
    assert "Pushed 6 steps" in errors
    assert in_tensorboard(tmp_path / "tb" / "run") == expected(tmp_path / "run", np.float32)
    told = texts_in_tensorboard(tmp_path / "tb" / "run")["board/findings"]
    kinds = [kind for text in told.values() for kind in re.findall(r"kind: (\S+)", text)]
    assert kinds
    assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize("tracker", OFFLINE)
def test_ctrl_c_ends_following_in_order(tmp_path: Path, tracker: str) -> None:
    """Whatever a library does at Ctrl+C: its run is ended by us, what comes once is there, and what was handed on is noted."""
    pytest.importorskip(tracker)
    grown(tmp_path / "run", range(4), rollouts=1)
    where = ("--to", tracker, "--log-dir", tmp_path / "logs", *OFFLINE[tracker], "--names", "re-grpo")
    process = started(tmp_path / "run", *where, "--follow", "--quiet", 0)
    waited(process, lambda: any((tmp_path / "state" / "push").glob("*.json")))
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)

    assert (process.returncode, output) == (0, ""), errors
    steps = int(re.findall(r"Pushed (\d+) steps?", errors)[0])  # all four, unless the machine is very slow
    curves = held(tracker, tmp_path / "logs")
    assert [step for step, _ in curves["rollouts/returns_max"]] == [*range(steps)]
    assert [step for step, _ in curves["final/total_rollouts"]] == [steps - 1]
    (noted,) = (tmp_path / "state" / "push").glob("*.json")
    assert json.loads(noted.read_bytes())["last"] == steps - 1


def test_what_a_trainer_logs_once_comes_when_following_ends(tmp_path: Path) -> None:
    """Ctrl+C is the end: what is defined as once, at the end, comes then, at the last step."""
    grown(tmp_path / "run", range(3))
    where = ("--to", "stdout", "--format", "jsonl", "--no-examples", "--names", "re-grpo")
    process = started(tmp_path / "run", *where, "--follow", "--quiet", 0, "--resume", output=tmp_path / "output")
    waited(process, lambda: (tmp_path / "output").read_text().count("\n") == 3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    found = lines((tmp_path / "output").read_text())
    assert process.returncode == 0, errors
    assert [line["step"] for line in found] == [0, 1, 2, 2]
    assert found[-1].keys() == {"step", "final/total_rollouts", "final/best_mean_return"}
    assert found[-1]["final/total_rollouts"] == found[-2]["rollouts/total_rollouts"]


def test_a_step_that_may_still_be_written_is_held_back(tmp_path: Path) -> None:
    """The last step of a run that is being written waits; it is pushed once the recorder has closed its shard."""
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", "--resume", "--quiet", 1000)
    with RolloutRecorder(tmp_path / "run") as recorder:
        for step in range(3):
            recorder.write(step=step, response="a", reward=1.0)
        recorder.flush()
        first, errors = pushed(*arguments)
        recorder.write(step=2, response="a", reward=3.0)
    second, _ = pushed(*arguments)

    assert [line["step"] for line in lines(first)] == [0, 1]
    assert "1 step held back" in errors
    assert [(line["step"], line["board/reward/mean"]) for line in lines(second)] == [(2, 2.0)]


def test_ctrl_c_in_the_middle_goes_on_there(tmp_path: Path) -> None:
    """An interrupted push says how far it came, and goes on there the next time; the step that was interrupted may come twice."""
    grown(tmp_path / "run", range(400))
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", "--resume")
    process = started(*arguments, output=tmp_path / "first")
    waited(process, lambda: (tmp_path / "first").stat().st_size > 5_000)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    first = lines((tmp_path / "first").read_text())
    second = lines(pushed(*arguments)[0])

    assert process.returncode == 130, errors
    assert f"Pushed {second[0]['step']} steps" in errors
    assert len(first) - second[0]["step"] in (0, 1)
    assert [line["step"] for line in first[: second[0]["step"]] + second] == [*range(400)]
