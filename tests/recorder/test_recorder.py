"""board.recorder: what is written is read back, and nothing that goes wrong reaches the training loop."""

import logging
import math
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded import DeviceTensor, Hostile, account, rows_of, same, shard_of

from board.recorder import RolloutRecorder
from board.recorder.writer import LATE_STEPS


def test_torch_tensors(tmp_path: Path) -> None:
    """Tensors are written whatever their dtype and whether or not they require gradients."""
    torch = pytest.importorskip("torch")
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write(
            step=torch.tensor(3),
            logprobs=torch.tensor([0.1, -1.0], requires_grad=True),
            values=torch.tensor([0.5, float("nan")], dtype=torch.bfloat16),
            loss_mask=torch.tensor([True, False]),
            reward=torch.tensor(0.25),
        )

    (row,) = rows_of(recorder.path())

    assert recorder.dropped == 0
    assert same(
        row,
        {"step": 3, "rank": 0, "logprobs": [0.1, -1.0], "values": [0.5, math.nan], "loss_mask": [True, False], "reward": 0.25},
    )


def test_a_batch_is_columns(tmp_path: Path) -> None:
    """A batch gives one row per entry of its columns, and repeats scalars, texts and dicts."""
    with RolloutRecorder(tmp_path, rank=2) as recorder:
        recorder.write_batch(
            step=4, prompt=["a", "b"], values=np.array([[1, 2], [3, 4]]), reward=DeviceTensor([0.5, 1.5]), meta={"k": 1}
        )

    shared = {"step": 4, "rank": 2, "meta": {"k": 1}}
    assert rows_of(shard_of(tmp_path, 2)) == [
        {**shared, "prompt": "a", "values": [1, 2], "reward": 0.5},
        {**shared, "prompt": "b", "values": [3, 4], "reward": 1.5},
    ]


@pytest.mark.parametrize(
    ("columns", "dropped"),
    [
        pytest.param({"prompt": ["a", "b"], "reward": [1.0]}, 2, id="unequal columns"),
        pytest.param({"prompt": "a"}, 1, id="no column"),
    ],
)
def test_a_batch_that_makes_no_sense_is_dropped_whole(tmp_path: Path, columns: dict[str, Any], dropped: int) -> None:
    """Columns that do not agree are never paired by guess."""
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write_batch(step=0, **columns)

    assert (dropped, False) == (recorder.dropped, recorder.path().exists())


def endless() -> list[Any]:
    """A list that contains itself."""
    inner: list[Any] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(object(), id="object"),
        pytest.param({1, 2}, id="set"),
        pytest.param(1j, id="complex"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param(Hostile(), id="hostile"),
        pytest.param(endless(), id="endless"),
        pytest.param(10**5000, id="integer longer than Python prints"),
    ],
)
@pytest.mark.parametrize("wait", [True, False])
def test_a_broken_value_is_left_out_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, value: object, wait: bool
) -> None:
    """A value that is not JSON costs itself alone; the loss is counted each time and logged the first."""
    with caplog.at_level(logging.WARNING), RolloutRecorder(tmp_path, wait=wait) as recorder:
        for step in range(3):
            recorder.write(step=step, prompt="kept", broken=value)

    assert [{"step": step, "rank": 0, "prompt": "kept"} for step in range(3)] == rows_of(recorder.path())
    assert (recorder.dropped, len(caplog.records)) == (3, 1)
    assert "'broken'" in caplog.text


@pytest.mark.parametrize(
    "step", [object(), Hostile(), None, "7", 1.5, math.nan, 2**63, [1]], ids=lambda step: type(step).__name__
)
def test_a_row_without_a_step_is_dropped(tmp_path: Path, step: Any) -> None:
    """A row without a whole number for a step, which no board could place, is not written."""
    with RolloutRecorder(tmp_path) as recorder:
        recorder.write(step=step, prompt="lost")

    assert (recorder.dropped, recorder.path().exists()) == (1, False)


def test_a_folder_that_cannot_be_made_does_not_stop_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Rows are dropped while the folder is impossible, and written as soon as it is not."""
    obstacle = tmp_path / "run"
    obstacle.write_text("a file where the folder should be")
    with caplog.at_level(logging.WARNING), RolloutRecorder(obstacle) as recorder:
        recorder.write(step=0)
        recorder.write_batch(step=1, prompt=["a", "b"])
        recorder.flush()
        obstacle.unlink()
        recorder.write(step=2)

    assert (recorder.dropped, len(caplog.records)) == (3, 1)
    assert rows_of(shard_of(obstacle)) == [{"step": 2, "rank": 0}]


def test_closing(tmp_path: Path) -> None:
    """Closing twice is harmless, and a write after it is a loss, not an error."""
    recorder = RolloutRecorder(tmp_path)
    recorder.write(step=0)
    recorder.close()
    recorder.close()
    recorder.write(step=1)

    assert (recorder.dropped, rows_of(recorder.path())) == (1, [{"step": 0, "rank": 0}])


def test_an_exception_of_the_training_loop_passes_and_closes(tmp_path: Path) -> None:
    """The recorder hides no error that is not its own."""
    with pytest.raises(KeyError), RolloutRecorder(tmp_path) as recorder:
        raise KeyError("training")
    recorder.write(step=0)

    assert recorder.dropped == 1


@pytest.mark.parametrize("wait", [True, False], ids=["wait", "flush"])
def test_every_row_is_on_disk(tmp_path: Path, wait: bool) -> None:
    """Another process sees whole lines with the recorder still open: as `write` returns if asked for, else once flushed."""
    with RolloutRecorder(tmp_path, wait=wait) as recorder:
        for step in range(5):
            recorder.write(step=step, values=np.zeros(100))
            if not wait:
                recorder.flush()

            assert step + 1 == len(rows_of(recorder.path()))


def held_by(gate: threading.Event) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A hook that lets a row pass when the gate opens: a disk that is stuck until then."""

    def wait(row: dict[str, Any]) -> dict[str, Any]:
        assert gate.wait(30)
        return row

    return wait


def test_what_training_changes_later_is_not_recorded(tmp_path: Path) -> None:
    """A row is what it was when it was given, though arrays, lists and dicts are changed while it waits."""
    gate = threading.Event()
    values, tokens, meta, inner = np.array([1.0, 2.0]), ["a", "b"], {"k": 1}, [[0.5]]
    with RolloutRecorder(tmp_path, redact=held_by(gate)) as recorder:
        recorder.write(step=0, response_tokens=tokens, values=values, meta=meta, inner=inner)
        recorder.write_batch(step=1, response_tokens=[tokens], values=values[None], meta=meta, inner=[inner])
        values[:], tokens[0], meta["k"] = 9, "z", 9
        inner[0][0] = 9
        gate.set()

    expected = {"rank": 0, "response_tokens": ["a", "b"], "values": [1.0, 2.0], "meta": {"k": 1}, "inner": [[0.5]]}
    assert rows_of(recorder.path()) == [{"step": 0, **expected}, {"step": 1, **expected}]


def test_a_full_queue_drops_and_never_waits(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """While the disk is stuck, what there is no room for is counted, said once, and told beside the shard."""
    gate = threading.Event()
    with caplog.at_level(logging.WARNING), RolloutRecorder(tmp_path, queue_bytes=1, redact=held_by(gate)) as recorder:
        recorder.write(step=0)
        recorder.write(step=1)
        recorder.write_batch(step=2, prompt=["a", "b"])
        dropped_while_stuck = recorder.dropped
        gate.set()
        recorder.flush()
        recorder.write(step=3)

    assert [row["step"] for row in rows_of(recorder.path())] == [0, 3]
    assert (dropped_while_stuck, recorder.dropped, len(caplog.records)) == (3, 3, 1)
    assert "queue is full" in caplog.text
    assert account(recorder.path()) == {"lost": {"queue": 3}, "token_arrays_left_out": 0, "ended": True}


def test_waiting_drops_nothing(tmp_path: Path) -> None:
    """A recorder told to wait has no queue that could be full."""
    with RolloutRecorder(tmp_path, queue_bytes=1, wait=True) as recorder:
        recorder.write_batch(step=0, reward=np.arange(100.0))

    assert (recorder.dropped, len(rows_of(recorder.path()))) == (0, 100)


def censor(row: dict[str, Any]) -> dict[str, Any]:
    """Hides names, and fails on what it does not understand, quoting it."""
    if "secret" in row["prompt"]:
        raise ValueError(f"cannot censor {row['prompt']}")
    return {**row, "prompt": row["prompt"].replace("Alice", "X")}


@pytest.mark.parametrize("step_bytes", [None, 10**6])
def test_redaction(tmp_path: Path, caplog: pytest.LogCaptureFixture, step_bytes: int | None) -> None:
    """Only what the hook returns is written; where it fails the row is not, and the warning does not quote it."""
    with caplog.at_level(logging.WARNING), RolloutRecorder(tmp_path, redact=censor, step_bytes=step_bytes) as recorder:
        recorder.write_batch(step=0, prompt=["Alice asks", "a secret", "another secret"])
        recorder.write(step=0)

    assert [row["prompt"] for row in rows_of(recorder.path())] == ["X asks"]
    assert (recorder.dropped, account(recorder.path())["lost"]) == (3, {"redaction": 3})
    assert "secret" not in caplog.text
    assert "so the row is not written (ValueError)." in caplog.text


def test_a_hook_that_returns_no_row_fails_closed(tmp_path: Path) -> None:
    """A hook that forgot its return leaves nothing on disk."""
    with RolloutRecorder(tmp_path, redact=lambda row: None) as recorder:  # type: ignore[arg-type, return-value]
        recorder.write(step=0, prompt="secret")

    assert (recorder.dropped, recorder.path().exists()) == (1, False)


def test_a_hook_changes_its_own_row_alone(tmp_path: Path) -> None:
    """A value that a whole batch shares is a copy in each row, so a hook that changes it changes one row."""

    def count(row: dict[str, Any]) -> dict[str, Any]:
        row["meta"]["seen"] += 1
        return row

    with RolloutRecorder(tmp_path, redact=count) as recorder:
        recorder.write_batch(step=0, prompt=["a", "b"], meta={"seen": 0})

    assert [row["meta"] for row in rows_of(recorder.path())] == [{"seen": 1}, {"seen": 1}]


def test_one_file_per_step_with_an_end_marker(tmp_path: Path) -> None:
    """A step's file says that it has ended once the next step begins, the trainer says so, or the recorder closes."""
    recorder = RolloutRecorder(tmp_path, rank=3, file_per="step")
    recorder.write_batch(step=7, reward=[0.0, 1.0])
    recorder.flush()
    before = account(recorder.path(7))["ended"]
    recorder.write(step=8, reward=0.5)
    recorder.flush()
    after = account(recorder.path(7))
    recorder.end_step()
    recorder.flush()
    said = account(recorder.path(8))
    recorder.write(step=9)
    recorder.close()

    assert recorder.path(7) == tmp_path / "step_7" / f"rank_3.{os.getpid()}.jsonl"
    assert [len(rows_of(recorder.path(step))) for step in (7, 8, 9)] == [2, 1, 1]
    assert (before, after["ended"], said["ended"]) == (False, True, True)
    assert account(recorder.path(9))["ended"]


def test_a_late_row_joins_its_step(tmp_path: Path) -> None:
    """A row for a step that has ended is added to that step's file, whose account says meanwhile that it is being written."""
    with RolloutRecorder(tmp_path, file_per="step") as recorder:
        for step in (1, 2, 1):
            recorder.write(step=step, broken=object())
        recorder.write(step=1)
        recorder.flush()
        meanwhile = account(recorder.path(1))

    assert len(rows_of(recorder.path(1))) == 3
    assert (meanwhile["ended"], account(recorder.path(1))["ended"]) == (False, True)
    assert (meanwhile["lost"], account(recorder.path(2))["lost"]) == ({"value": 2}, {"value": 1})


def test_a_row_that_is_very_late_gets_a_file_of_its_own(tmp_path: Path) -> None:
    """No more than some files are remembered: one of long ago stays as it is, and its step has another beside it."""
    with RolloutRecorder(tmp_path, file_per="step", wait=True) as recorder:
        for step in (*range(LATE_STEPS + 1), 0, 1):
            recorder.write(step=step)

    shards = [[*(tmp_path / f"step_{step}").glob("*.jsonl")] for step in (0, 2)]
    assert [[(len(rows_of(shard)), account(shard)["ended"]) for shard in found] for found in shards] == [
        [(1, True)] * 2,
        [(1, True)],
    ]


def test_the_account_says_that_nobody_writes_only_after_closing(tmp_path: Path) -> None:
    """A second recorder of one process has a shard and an account of its own, in which it counts from the beginning."""
    for _ in (1, 2):
        with RolloutRecorder(tmp_path) as recorder:
            recorder.write(step=0, broken=object())
            recorder.end_step()
            recorder.flush()
            open_account = account(recorder.path())
        assert open_account == {"lost": {"value": 1}, "token_arrays_left_out": 0, "ended": False}
        assert account(recorder.path())["ended"]
    assert len([*tmp_path.glob("*.jsonl")]) == 2


def test_threads_share_a_recorder(tmp_path: Path) -> None:
    """Rows of several threads are all written, whole, each thread's in its order."""

    def work(name: str) -> None:
        for index in range(200):
            recorder.write(step=0, thread=name, index=index, values=np.full(50, index))

    with RolloutRecorder(tmp_path) as recorder:
        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    rows = rows_of(recorder.path())
    assert {name: [row["index"] for row in rows if row["thread"] == name] for name in "abcd"} == {
        name: [*range(200)] for name in "abcd"
    }


def test_file_per_is_one_of_two(tmp_path: Path) -> None:
    """A misspelt option is an error where the recorder is made, before training begins."""
    with pytest.raises(ValueError, match="'rank' or 'step', not 'steps'"):
        RolloutRecorder(tmp_path, file_per="steps")  # type: ignore[arg-type]
