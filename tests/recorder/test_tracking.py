"""A recorder that tracks: each step's numbers reach the tracker, and nothing the tracker does wrong reaches training or the rows."""

import io
import json
import logging
import math
import os
from collections import UserDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded import DeviceTensor, Hostile, account, rows_of, to
from wandb_runs import wait_for_end

from board import open_run, trackers
from board.recorder import RolloutRecorder

_PLACES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "tensorboard": lambda folder: {"log_dir": folder},
    "wandb": lambda folder: {"dir": folder, "mode": "offline"},
    "swanlab": lambda folder: {"logdir": folder, "mode": "offline", "project": "p"},
    "mlflow": lambda folder: {"dir": folder},
}


def tracked(stream: io.StringIO) -> list[dict[str, Any]]:
    """The lines a tracker wrote."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("wait", [True, False])
def test_a_step_is_told_once_with_all_its_numbers(tmp_path: Path, wait: bool) -> None:
    """The numbers of a step's rows and those of the trainer leave together, in the order of steps, when the next begins."""
    stream = io.StringIO()
    with RolloutRecorder(tmp_path, wait=wait, **to(stream)) as recorder:
        for step in range(3):
            recorder.write_batch(step=step, response=["a", "b"], reward=[step, step + 1.0])
            recorder.track(step=step, lr=DeviceTensor([0.5]), loss=np.float32(2))
            recorder.track(step, {"actor/kl": 0.25})

    own = {"lr": 0.5, "loss": 2.0, "actor/kl": 0.25}
    found = tracked(stream)
    assert [line["step"] for line in found] == [0, 1, 2]
    for step, line in enumerate(found):
        assert own.items() <= line.items()
        assert (line["board/reward/mean"], line["board/reward/max"], line["board/counts/rollouts"]) == (step + 0.5, step + 1, 2)
    assert (recorder.dropped, recorder.untracked) == (0, 0)


def test_what_a_trainer_logs_once_comes_at_the_end(tmp_path: Path) -> None:
    """Under names of a trainer that has such, and then alone, at the last step: totals of what this process wrote, and the best of its steps."""
    stream = io.StringIO()
    with RolloutRecorder(tmp_path, names="re-grpo", **to(stream)) as recorder:
        for step, reward in enumerate((0.5, 2.0, 1.0)):
            recorder.write_batch(step=step, response=["a", "b"], reward=[reward, reward])

    found = tracked(stream)
    assert [line["step"] for line in found if any(name.startswith("final/") for name in line)] == [2]
    assert found[-1] == {"step": 2, "final/total_rollouts": 6, "final/best_mean_return": 2.0}


ORDERS: dict[str, tuple[list[tuple[str, int]], list[int]]] = {
    "numbers after their step has ended": ([("row", 1), ("end", 1), ("track", 1), ("row", 2)], [1, 1, 2]),
    "numbers after the next step's first row": ([("row", 1), ("row", 2), ("track", 1)], [1, 1, 2]),
    "no row at all": ([("track", 1), ("track", 1), ("track", 3)], [1, 3]),
    "rows of every other step": ([("track", 1), ("track", 2), ("row", 2), ("track", 3), ("row", 4)], [1, 2, 3, 4]),
    "steps that end by hand": ([("row", 1), ("end", 1), ("row", 2), ("end", 2)], [1, 2]),
}


@pytest.mark.parametrize(("events", "expected"), ORDERS.values(), ids=ORDERS)
def test_steps_never_go_back(tmp_path: Path, events: list[tuple[str, int]], expected: list[int]) -> None:
    """In whatever order a trainer hands over rows and numbers, the tracker sees rising steps and loses none."""
    stream = io.StringIO()
    with RolloutRecorder(tmp_path, **to(stream)) as recorder:
        for kind, step in events:
            if kind == "row":
                recorder.write(step=step, response="a")
            elif kind == "track":
                recorder.track(step, {"loss": 1.0})
            else:
                recorder.end_step()

    assert [line["step"] for line in tracked(stream)] == expected
    assert sum("loss" in line for line in tracked(stream)) == len({step for kind, step in events if kind == "track"})
    assert recorder.untracked == 0


def test_a_row_that_comes_too_late_is_written_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Rows of a step whose numbers have left change none of them, nor the step that is open; the account says how many."""
    stream = io.StringIO()
    with caplog.at_level(logging.WARNING), RolloutRecorder(tmp_path, **to(stream)) as recorder:
        for step, reward in ((1, 1.0), (2, 2.0), (1, 100.0), (1, 100.0), (2, 4.0)):
            recorder.write(step=step, response="a", reward=reward)

    assert [(line["step"], line["board/reward/mean"]) for line in tracked(stream)] == [(1, 1.0), (2, 3.0)]
    assert (len(rows_of(recorder.path())), recorder.dropped, recorder.untracked, len(caplog.records)) == (5, 0, 2, 1)
    assert account(recorder.path())["lost"] == {"tracker_late": 2}


def test_rank_0_alone_tracks(tmp_path: Path) -> None:
    """Other ranks write their rows and tell the tracker nothing."""
    stream = io.StringIO()
    with RolloutRecorder(tmp_path, rank=1, **to(stream)) as recorder:
        recorder.write(step=0, response="a", reward=1.0)
        recorder.track(0, {"loss": 1.0})

    assert (stream.getvalue(), len(rows_of(recorder.path())), recorder.untracked) == ("", 1, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_does_not_track(tmp_path: Path) -> None:
    """A process forked from rank 0 writes rows of its own, and the tracker sees the parent's alone."""
    with (tmp_path / "tracked").open("w") as stream, RolloutRecorder(tmp_path / "run", **to(stream)) as recorder:
        recorder.write(step=0, response="a", reward=1.0)
        recorder.flush()
        child = os.fork()
        if child == 0:
            recorder.write(step=1, response="a", reward=9.0)
            recorder.track(1, {"loss": 1.0})
            recorder.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        recorder.write(step=1, response="a", reward=2.0)

    lines = [json.loads(line) for line in (tmp_path / "tracked").read_text().splitlines()]
    assert [(line["step"], line["board/reward/mean"]) for line in lines] == [(0, 1.0), (1, 2.0)]
    assert len(rows_of(tmp_path / "run" / f"rank_0.{child}.jsonl")) == 1


def test_texts_and_truths_are_tracked(tmp_path: Path) -> None:
    """Texts reach the tracker as they are, true and false as 1 and 0."""
    stream = io.StringIO()
    with RolloutRecorder(tmp_path, **to(stream)) as recorder:
        recorder.track(0, {"device": "cuda:0", "accelerate/sync_gradients": True, "ddp/sync_gradients": np.bool_(False)})

    told = {"step": 0, "device": "cuda:0", "accelerate/sync_gradients": 1.0, "ddp/sync_gradients": 0.0}
    assert (tracked(stream), recorder.untracked) == ([told], 0)


@pytest.mark.parametrize("tracker", ["tensorboard", "wandb", "swanlab", "mlflow"])
def test_every_tracker_takes_texts(tmp_path: Path, tracker: str) -> None:
    """A text beside a number costs nothing anywhere, and is read back."""
    writer = trackers.tracker(tracker).open_writer("run", **_PLACES[tracker](tmp_path))
    writer.scalars(0, {"lr": 0.5, "device": "cuda:0"})
    writer.close()
    (found,) = trackers.tracker(tracker).find(tmp_path)
    if tracker == "wandb":
        wait_for_end(found.parent)
    read = trackers.tracker(tracker).read(found)

    assert read["lr"].values.tolist() == [0.5]
    assert (dict(read.texts), read.others) == ({"device": {0: "cuda:0"}}, ())


ODD: tuple[object, ...] = (None, object(), Hostile(), math.nan, math.inf, [1.0, 2.0], {"a": 1})


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_what_is_no_number_is_left_out_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture, value: object) -> None:
    """A value that a tracker cannot take costs itself alone, and is said once."""
    stream = io.StringIO()
    with caplog.at_level(logging.WARNING), RolloutRecorder(tmp_path, **to(stream)) as recorder:
        for step in (0, 1):
            recorder.track(step, {"loss": 1.0, "odd": value})

    assert tracked(stream) == [{"step": step, "loss": 1.0} for step in (0, 1)]
    assert (recorder.untracked, recorder.dropped, len(caplog.records)) == (2, 0, 1)


@pytest.mark.parametrize("step", [None, "7", 1.5, Hostile()], ids=lambda step: type(step).__name__)
def test_numbers_without_a_step_are_left_out(tmp_path: Path, step: Any) -> None:
    """A step that is no whole number is no reason to raise into training."""
    stream = io.StringIO()
    with RolloutRecorder(tmp_path, **to(stream)) as recorder:
        recorder.track(step, {"loss": 1.0})

    assert (stream.getvalue(), recorder.untracked) == ("", 1)


def test_a_row_that_the_board_refuses_is_written(tmp_path: Path) -> None:
    """It costs the step's numbers that row, which is counted, and the shard nothing; one of odd tokens is in them, as it is on the board."""
    stream = io.StringIO()
    with RolloutRecorder(tmp_path, **to(stream)) as recorder:
        recorder.write(step=0, response_tokens=[["a"], {"b": 1}], reward=5.0)
        recorder.write(step=0, response="a", reward=1.0)
        recorder.write(step=0, prompt="neither response nor tokens", reward=99.0)
        recorder.write(step=1, prompt="neither response nor tokens", reward=99.0)
        recorder.track(step=1, lr=0.5)

    assert tracked(stream)[0]["board/reward/mean"] == open_run(tmp_path).frame["reward"].mean() == 3.0
    assert tracked(stream)[1:] == [{"step": 1, "lr": 0.5}]
    assert (len(rows_of(recorder.path())), recorder.dropped, recorder.untracked) == (4, 0, 2)


def test_a_configuration_is_passed_on_as_it_is(tmp_path: Path) -> None:
    """The two keys of a trainer's YAML file, read into whatever mappings and lists, are the recorder's options."""
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    config: UserDict[str, Any] = UserDict(
        {"track_with": "tensorboard", "tracker_kwargs": UserDict({"log_dir": str(tmp_path / "logs")})}
    )
    for _ in range(2):
        with RolloutRecorder(tmp_path / "my run", **config) as recorder:
            for step in range(3):
                recorder.write(step=step, response="a", reward=step / 8)
                recorder.track(step, {"actor/lr": 1e-6})

    runs = sorted((tmp_path / "logs").iterdir())
    assert (len(runs), {path.name[:6] for path in runs}, recorder.untracked) == (2, {"my run"}, 0)
    for folder in runs:
        read = event_accumulator.EventAccumulator(str(folder))
        read.Reload()
        assert [(one.step, one.value) for one in read.Scalars("board/reward/mean")] == [(0, 0), (1, 0.125), (2, 0.25)]
        assert [one.value for one in read.Scalars("actor/lr")] == [pytest.approx(1e-6)] * 3


def test_no_tracker_is_asked_for(tmp_path: Path) -> None:
    """A configuration that says `track_with: null` records, and takes what the trainer tracks without a word."""
    with RolloutRecorder(tmp_path, track_with=None, tracker_kwargs=None) as recorder:
        recorder.write(step=0, response="a")
        recorder.track(0, loss=Hostile())

    assert (len(rows_of(recorder.path())), recorder.untracked) == (1, 0)


@pytest.mark.parametrize(
    ("names", "expected"), [("roll", "critic/score/mean"), ("trl-grpo", "reward"), ("board", "board/reward/mean")]
)
def test_numbers_go_by_a_trainers_names(tmp_path: Path, names: str, expected: str) -> None:
    """The numbers of rows have the names that `push` gives them; those a trainer has none for stay the board's."""
    stream = io.StringIO()
    with RolloutRecorder(tmp_path, names=names, **to(stream)) as recorder:
        recorder.write(step=0, response="a", reward=1.5)

    (line,) = tracked(stream)
    assert line[expected] == 1.5
    assert line["board/counts/rollouts"] == 1


def test_names_of_nobody_are_an_error_before_training(tmp_path: Path) -> None:
    """Names that no trainer has are refused when the recorder is made, with those there are."""
    with pytest.raises(ValueError, match=r"names is one of board, roll, .* not 'rol'"):
        RolloutRecorder(tmp_path, names="rol", **to(io.StringIO()))


@pytest.mark.parametrize("name", ["tensorbord", "jsonl"])
def test_a_misspelt_tracker_is_an_error_before_training(tmp_path: Path, name: str) -> None:
    """A name that no tracker has, or one of the trainer's own logs, is refused where the recorder is made, and the known ones are said."""
    with pytest.raises(ValueError, match=rf"tensorboard.*{name}"):
        RolloutRecorder(tmp_path, track_with=name)
