"""Tests of W&B as a tracker, with the real W&B, offline."""

import json
import os
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wandb as library
from tracked import HOSTILE, PLAIN, REPOSITORY, STEPS, Counting, by_name
from wandb.proto.wandb_internal_pb2 import Record
from wandb_runs import alerts_in, closed, ours, wait_for_end, write

from board.errors import BoardError
from board.trackers import wandb

pytestmark = pytest.mark.usefixtures("no_environment")


def exported(place: Path) -> list[dict[str, Any]]:
    """The rows of a run's history as the protobufs of W&B itself hold them, read with nothing of ours."""
    data = next(place.glob("*.wandb")).read_bytes()
    rows, at, begun = [], 7, b""
    while at + 7 <= len(data):
        if (left := 32768 - at % 32768) < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        begun += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            record, begun = Record.FromString(begun), b""
            if record.WhichOneof("record_type") == "history":
                rows.append({"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item})
    return rows


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/logs", "blocked"])
@pytest.mark.parametrize("given", ["as an argument", "as WANDB_DIR"])
def test_a_folder_that_cannot_be_written_to_is_refused(
    tmp_path: Path, place: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error names the folder: W&B itself would write to a temporary one and end well."""
    (tmp_path / "file").write_text("")
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "wandb").write_text("")
    folder = tmp_path / place
    if given == "as WANDB_DIR":
        monkeypatch.setenv("WANDB_DIR", str(folder))

    with pytest.raises(BoardError, match=f"{folder}/wandb: no folder that can be written to"):
        wandb.open_writer("run", mode="offline", dir=folder if given == "as an argument" else None)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """Every number comes back as the 64 bits it was, from the folder and from its file, and as W&B's own records hold it."""
    place = write(tmp_path, STEPS)
    (log,) = wandb.find(tmp_path)

    assert log.parent == place
    assert ours(place) == ours(log) == by_name(STEPS)
    own = {row["_step"]: {key: value for key, value in row.items() if key[0] != "_"} for row in exported(place)}
    assert own == STEPS


def test_a_run_goes_on(tmp_path: Path) -> None:
    """A run gone on with by its id is read as one run although W&B keeps its parts apart."""
    write(tmp_path, STEPS, run_id="abc")
    writer = wandb.open_writer("run", mode="offline", dir=tmp_path, project="p", run_id="abc")
    writer.scalars(13, {"reward/mean": 0.5})
    closed(writer)

    (log,) = wandb.find(tmp_path)
    assert log.parent == Path(writer.place)
    assert ours(log) == by_name(STEPS | {13: {"reward/mean": 0.5}})
    steps = [row["_step"] for part in sorted((tmp_path / "wandb").glob("offline-run-*")) for row in exported(part)]
    assert steps == [0, 1, 12, 13]


def test_more_of_a_step_joins_it(tmp_path: Path) -> None:
    """What is handed over for the step that is open becomes part of its row."""
    writer = wandb.open_writer("run", mode="offline", dir=tmp_path)
    writer.scalars(5, {"x": 1.0})
    writer.scalars(5, {"y": 2.0})

    assert ours(closed(writer)) == {"x": {5: 1.0}, "y": {5: 2.0}}


def test_examples_are_a_table_of_text(tmp_path: Path) -> None:
    """Rollouts go to a table whose strings are the model's text made plain, and leave no curves of their own."""
    writer = wandb.open_writer("run", mode="offline", dir=tmp_path)
    writer.scalars(1, {"x": 1.0})
    writer.examples(1, "examples/best", [{"reward": 1.5, "response": HOSTILE}, {"response": "b", "extra": 2}])

    (file,) = closed(writer).glob("files/media/table/examples/*.json")
    table = json.loads(file.read_text())
    assert table["columns"] == ["reward", "response", "extra"]
    assert table["data"] == [
        [1.5, PLAIN, None],
        [None, "b", 2],
    ]
    assert ours(Path(writer.place)) == {"x": {1: 1.0}}


def theirs(folder: Path, **options: Any) -> Any:
    """A run begun as a trainer begins it."""
    quiet = {
        "console": "off",
        "silent": True,
        "reinit": "create_new",
        "x_disable_stats": True,
        "x_disable_meta": True,
        "disable_git": True,
    }
    return library.init(mode="offline", dir=folder, settings=library.Settings(**quiet, **options))


def finished(run: Any) -> Path:
    """The folder of a run that a trainer ended, once W&B's own process has written the end of it."""
    run.finish()
    folder = Path(run.dir).parent
    wait_for_end(folder)
    return folder


ENCODINGS = ["json", "json,typed"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_trainers_log_is_read(tmp_path: Path, encoding: str) -> None:
    """Nested values are joined, NaN and infinity kept, true is 1, texts are texts, and a histogram is named."""
    run = theirs(tmp_path, x_history_value_encoding=encoding)
    run.log({"actor": {"lr": 1e-6, "deep": {"er": 2}}, "nan": float("nan"), "up": float("inf"), "a.b": 3, "big": 2**53})
    run.log(
        {
            "text": "1.5",
            "yes": True,
            "none": None,
            "h": library.Histogram([1, 2, 3]),
            "actor": {"lr": 2e-6},
            "np": np.float32(0.5),
        }
    )
    folder = finished(run)
    found = ours(folder)
    beside = wandb.read(folder)

    assert (beside.texts, beside.others) == ({"text": {1: "1.5"}}, ("h",))
    assert np.isnan(found.pop("nan")[0])
    assert found == {
        "actor/lr": {0: 1e-6, 1: 2e-6},
        "actor/deep/er": {0: 2.0},
        "up": {0: float("inf")},
        "a.b": {0: 3.0},
        "big": {0: float(2**53)},
        "np": {1: 0.5},
        "yes": {1: 1.0},
    }


def test_steps_are_those_the_trainer_defined(tmp_path: Path) -> None:
    """A metric whose step was defined as another metric is a curve over that one; the others over W&B's own count."""
    run = theirs(tmp_path)
    run.define_metric("train/*", step_metric="train/global_step")
    run.define_metric("eval/score", step_metric="eval_step")
    run.define_metric("by epoch", step_metric="epoch")
    run.log({"train/loss": 3.0, "train/global_step": 10, "own": 1.0, "by epoch": 1.0, "epoch": 0.5})
    run.log({"train/loss": 2.0, "train/global_step": 20, "eval/score": 0.25, "eval_step": 7})
    run.log({"train/loss": 1.0, "own": 2.0})
    found = ours(finished(run))

    assert found["train/loss"] == {10: 3.0, 20: 1.0}
    assert found["eval/score"] == {7: 0.25}
    assert found["own"] == {0: 1.0, 2: 2.0}
    assert found["by epoch"] == {0: 1.0}


def test_our_run_leaves_the_trainers_alone(tmp_path: Path) -> None:
    """With a run of the trainer's open, ours is another, and closing it leaves theirs open and current."""
    run = library.init(mode="offline", dir=tmp_path / "theirs", settings=library.Settings(console="off", silent=True))
    place = write(tmp_path / "ours", STEPS)
    assert [library.run] == [run]
    run.log({"loss": 1.0})

    assert ours(place) == by_name(STEPS)
    assert ours(finished(run)) == {"loss": {0: 1.0}}


WRITING = """
import sys, time
from board.trackers import wandb
writer = wandb.open_writer("run", dir=sys.argv[1], mode=sys.argv[2] or None, api_key=sys.argv[3] or None)
writer.scalars(1, {"x": 1.0})
writer.examples(1, "e", [{"response": "text"}])
writer.close()
print(writer.place, file=sys.stderr)
"""


def clean() -> dict[str, str]:
    """The environment without the address of W&B's process, which another process would share."""
    return {key: value for key, value in os.environ.items() if not key.startswith("WANDB_")}


def in_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process that writes a run with our writer."""
    command = [sys.executable, "-c", WRITING, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=REPOSITORY, env=clean() | environment)


@pytest.mark.parametrize(("mode", "environment"), [("offline", {}), ("", {"WANDB_MODE": "offline"})])
def test_offline_is_silent_in_every_way(tmp_path: Path, server: Counting, mode: str, environment: dict[str, str]) -> None:
    """Offline, by argument or environment, nothing is sent to W&B's address, and nothing printed but what the caller prints."""
    ended = in_process(str(tmp_path), mode, "", WANDB_BASE_URL=server.address, HOME=str(tmp_path), **environment)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert server.connections == 0
    assert ours(Path(ended.stderr.strip())) == {"x": {1: 1.0}}


def test_without_a_key_it_is_said_what_to_do(tmp_path: Path, server: Counting) -> None:
    """Online without a key ends at once with the ways to give one; nobody is asked."""
    ended = in_process(str(tmp_path), "", "", WANDB_BASE_URL=server.address, HOME=str(tmp_path), WANDB_ERROR_REPORTING="false")

    assert ended.returncode == 1
    assert "BoardError: W&B has no key: give api_key" in ended.stderr
    assert ended.stdout == ""


def test_an_alert_is_in_the_log_as_text(tmp_path: Path) -> None:
    """Two of one title within a minute are both there; a title of any length is taken, and what is no text is made text."""
    writer = wandb.open_writer("run", mode="offline", dir=tmp_path, project="p")
    writer.scalars(0, {"a": 1.0})
    writer.alert("t" * 100, HOSTILE, error=True)
    time.sleep(0.01)
    writer.alert("t" * 100, "again", error=False)
    closed(writer)

    (log,) = wandb.find(tmp_path)
    found = [(one.title, one.text, one.level) for one in alerts_in(log)]
    assert found == [("t" * 63, PLAIN, "ERROR"), ("t" * 63, "again", "WARN")]
