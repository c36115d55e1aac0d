"""Logs that trainers keep beside their rollouts: verl's, ms-swift's, ART's and that of every Trainer of transformers.

`written/` beside this file holds what they wrote: trainer_state.json by TRL 1.16's GRPO and RLOO trainers, verl's file by the logger of
verl 0.9.1, ART's by ART 0.5.18 (`tests/writers/art_log.py`), ms-swift's by ms-swift 4.6.0 (`tests/writers/swift_log.py`).
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from environments import python_with
from tracked import curves

from board import open_run
from board.analysis.steps.logged_curves import CurveReader, find
from board.errors import BoardError
from board.metrics.declared import resolve_any
from board.recorder import RolloutRecorder
from board.trackers import jsonl, transformers

WRITTEN = Path(__file__).parents[1] / "trackers" / "written"

LOGS: dict[str, tuple[str, str, str, dict[str, dict[int, float]]]] = {
    "verl's logger file": (
        "verl_0_9_1.jsonl",
        "project/experiment.jsonl",
        "jsonl",
        {"critic/score/mean": {1: 0.25, 2: 0.5, 3: 0.75}, "val-core/math/acc/mean@4": {1: 0.5, 2: 0.5, 3: 0.5}},
    ),
    "ms-swift": ("ms_swift_4_6_0.jsonl", "logging.jsonl", "jsonl", {"loss": {1: 9.16666698, 2: 9.16641617, 3: 9.16622925}}),
    "ART": (
        "art_0_5_18.jsonl",
        "history.jsonl",
        "jsonl",
        {"train/turns": {1: 2.0, 2: 2.0}, "val/correct": {2: 0.5}, "data/cum/num_trajectories": {1: 3.0, 2: 9.0}},
    ),
    "GRPO's trainer": (
        "trl_grpo_trainer_state.json",
        "checkpoint-3/trainer_state.json",
        "transformers",
        {"train/epoch": {1: 0.25, 2: 0.5, 3: 0.75}},
    ),
    "RLOO's trainer": (
        "trl_rloo_trainer_state.json",
        "trainer_state.json",
        "transformers",
        {"train/epoch": {1: 0.25, 2: 0.5, 3: 0.75}},
    ),
}
"""What was written, where it lies in a run's folder, its tracker, and some of what it says."""


def laid(folder: Path, name: str, place: str) -> Path:
    """What a trainer wrote, at its place in a run's folder."""
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(WRITTEN / name, path)
    return path


@pytest.mark.parametrize(("name", "place", "tracker", "said"), LOGS.values(), ids=LOGS)
def test_a_log_beside_rollouts_is_scalars_and_no_rollouts(
    tmp_path: Path, name: str, place: str, tracker: str, said: dict[str, dict[int, float]]
) -> None:
    """The log's numbers are there by step; the run is what it is without the log, and nothing is refused."""
    run = tmp_path / "run"
    with RolloutRecorder(run) as recorder:
        recorder.write(step=1, response="a", reward=1.0)
    laid(run, name, place)

    (source,) = find(run, None, tmp_path)
    scalars = CurveReader().read([source])
    opened = open_run(run)

    assert (source.tracker, scalars.problems) == (tracker, ())
    found = {one.name: dict(zip(one.curve.steps.tolist(), one.curve.values.tolist(), strict=True)) for one in scalars.logged}
    assert {key: found.get(key) for key in said} == said
    assert len(opened.frame) == 1
    assert opened.report.problems == []


@pytest.mark.parametrize("name", ["trl_grpo_trainer_state.json", "trl_rloo_trainer_state.json"])
def test_all_that_trl_logs_joins_a_panel(tmp_path: Path, name: str) -> None:
    """Every number that TRL's trainers logged, of training and evaluation, is one the catalogue knows."""
    read = transformers.read(laid(tmp_path, name, "trainer_state.json"))

    assert len(read) > 50
    assert [name for name in read if resolve_any(name) is None] == []


def test_of_a_trainings_checkpoints_the_last_is_read(tmp_path: Path) -> None:
    """Each checkpoint's state holds all before it: there is one source, the last; one written at the end comes before them all."""
    for step in (9, 10, 100):
        laid(tmp_path, "trl_grpo_trainer_state.json", f"out/checkpoint-{step}/trainer_state.json")
    last = tmp_path / "out/checkpoint-100/trainer_state.json"

    assert transformers.find(tmp_path) == [last]
    assert transformers.runs(last) == {"out": last}
    end = laid(tmp_path, "trl_grpo_trainer_state.json", "out/trainer_state.json")
    assert transformers.find(tmp_path) == [end]


DAMAGED = {
    "cut off": b'{"log_history": [{"step": 1',
    "no history": b'{"epoch": 1}',
    "rows that are none": b'{"log_history": [1]}',
    "a row without a step": b'{"log_history": [{"loss": 1.0}]}',
    "nothing": b"",
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_state_is_named(tmp_path: Path, text: bytes) -> None:
    """What is no state of a Trainer is an error with the file's name."""
    path = tmp_path / "trainer_state.json"
    path.write_bytes(text)

    with pytest.raises(BoardError, match=r"trainer_state\.json"):
        transformers.read(path)


def test_rollouts_of_any_name_are_no_log(tmp_path: Path) -> None:
    """A shard whose rows have a step and a text called data is none of verl's logs."""
    (tmp_path / "a.jsonl").write_text(json.dumps({"step": 1, "data": "text", "response": "a"}) + "\n")
    (tmp_path / "b.jsonl").write_text("not JSON")

    assert jsonl.find(tmp_path) == []


def test_what_is_no_step_of_ms_swift_stays_a_curve(tmp_path: Path) -> None:
    """A number called iteration beside a step is a number."""
    (tmp_path / "metrics.jsonl").write_text('{"step": 4, "iteration": 2}\n{"iteration": "7/9", "x": 1}\n')

    assert curves(jsonl.read, tmp_path / "metrics.jsonl") == {"iteration": {4: 2.0}, "x": {7: 1.0}}


@pytest.mark.installs
def test_ms_swift_itself(tmp_path: Path) -> None:
    """A log that ms-swift keeps now is read whole. RL_BOARD_SWIFT_PYTHON names an interpreter that has it."""
    python = python_with(tmp_path / "env", "RL_BOARD_SWIFT_PYTHON", "torch==2.13.0", "ms-swift==4.6.0")
    writer = Path(__file__).parents[1] / "writers" / "swift_log.py"

    subprocess.run([python, writer, tmp_path / "out"], check=True, timeout=300)

    found = curves(jsonl.read, tmp_path / "out" / "logging.jsonl")
    assert [*found["loss"]] == [*found["eval_runtime"]] == [1, 2, 3]
    assert found["epoch"][3] == 3.0
