"""Tests of what several writers of one shard, and somebody who takes it away, do to its account: it stays true."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded import account, rows_of

from board import open_run
from board.recorder import RolloutRecorder, turns
from board.recorder.shard_file import account_path

REPOSITORY = Path(__file__).parents[2]

MESSAGES = {
    "removed": "was removed, moved away or emptied by somebody else",
    "account": "the account beside the shard cannot be kept",
    "disk": "the disk refuses",
}


def said(caplog: pytest.LogCaptureFixture, reason: str) -> int:
    """How often something was said."""
    return sum(MESSAGES[reason] in record.getMessage() for record in caplog.records)


def remove_with_account(shard: Path) -> None:
    """The file and what counts its rows."""
    shard.unlink()
    account_path(shard).unlink()


REMOVALS: dict[str, Callable[[Path], object]] = {
    "folder removed": lambda shard: shutil.rmtree(shard.parent),
    "folder moved away": lambda shard: shard.parent.rename(shard.parent.with_name("elsewhere")),
    "file removed": Path.unlink,
    "file and account removed": remove_with_account,
    "file moved away": lambda shard: shard.rename(shard.with_name("elsewhere.bak")),
    "file emptied": lambda shard: os.truncate(shard, 0),
}


@pytest.mark.parametrize("wait", [False, True], ids=["in the background", "at once"])
@pytest.mark.parametrize("noted", [False, True], ids=["before the step's end", "after it"])
@pytest.mark.parametrize("name", REMOVALS)
def test_rows_that_are_taken_away_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, noted: bool, wait: bool
) -> None:
    """What is written next goes to a new file; the rows that went with the old one are counted and told, and nobody says they are there."""
    with RolloutRecorder(tmp_path / "run", wait=wait) as recorder:
        for step in range(100):
            recorder.write(step=step if noted else 0, response="a")
        recorder.flush()
        REMOVALS[name](recorder.path())
        for step in range(200):
            recorder.write(step=100 + step if noted else 0, response="b")
        recorder.flush()
        assert recorder.dropped == 100

    rows = rows_of(recorder.path())
    assert [row["response"] for row in rows] == ["b"] * 200
    assert account(recorder.path()) == {"rows": 200, "lost": {"removed": 100}, "token_arrays_left_out": 0, "ended": True}
    assert said(caplog, "removed") == len(caplog.records) == 1
    assert "100 rollouts were removed" in open_run(tmp_path / "run").report.recording[0]


@pytest.mark.parametrize("name", REMOVALS)
def test_rows_that_are_taken_away_last_are_counted(tmp_path: Path, name: str) -> None:
    """Closing counts what was taken away since the last row, and does not make a folder anew that somebody has removed."""
    with RolloutRecorder(tmp_path / "run", step_bytes=10) as recorder:
        for _ in range(5):
            recorder.write(step=0, response="a", logprobs=[-1.0] * 9, ref_logprobs=[-1.0] * 9)
        recorder.end_step()
        recorder.flush()
        REMOVALS[name](recorder.path())

    assert recorder.dropped == 5
    if "folder" in name:
        assert not (tmp_path / "run").exists()
    else:
        assert account(recorder.path()) == {"rows": 0, "lost": {"removed": 5}, "token_arrays_left_out": 0, "ended": True}


def test_a_file_of_one_step_that_is_cleared_away_is_no_loss(tmp_path: Path) -> None:
    """With a file per step, those of steps that have ended are the reader's: removing them is nobody's loss."""
    with RolloutRecorder(tmp_path / "run", file_per="step", wait=True) as recorder:
        for step in range(4):
            recorder.write(step=step, response="a")
            shutil.rmtree(tmp_path / "run" / f"step_{step - 1}", ignore_errors=True)

    assert recorder.dropped == 0


def a_folder(path: Path) -> None:
    """A folder where the account should be."""
    path.mkdir()


def a_pipe(path: Path) -> None:
    """A pipe that nobody writes to."""
    os.mkfifo(path)


def a_device(path: Path) -> None:
    """What never ends."""
    path.symlink_to("/dev/zero")


ACCOUNTS: dict[str, object] = {
    "a count that is text": {"rows": 1, "lost": {"queue": "x"}, "token_arrays_left_out": 0, "ended": False},
    "a count that is nothing": {"rows": 1, "lost": {"queue": None}, "token_arrays_left_out": 0, "ended": False},
    "a count below none": {"rows": -7, "lost": {}, "token_arrays_left_out": 0, "ended": False},
    "a huge count": {"rows": 2**64 - 1, "lost": {}, "token_arrays_left_out": 0, "ended": False},
    "another huge count": {"rows": 1, "lost": {}, "token_arrays_left_out": 2**63 - 1, "ended": False},
    "a huge loss": {"rows": 1, "lost": {"disk": 2**64 - 1}, "token_arrays_left_out": 0, "ended": False},
    "a loss that is a list": {"rows": 1, "lost": {"disk": [1]}, "token_arrays_left_out": 0, "ended": False},
    "truth for a number": {"rows": True, "lost": {}, "token_arrays_left_out": 0, "ended": False},
    "no object": [1],
    "a number": 7,
}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_an_account_that_makes_no_sense_costs_no_row(tmp_path: Path, name: str) -> None:
    """What another program left there is begun anew."""
    shard = tmp_path / "rank_0.jsonl"
    shard.write_bytes(b'{"step": 0}\n')
    account_path(shard).write_text(json.dumps(ACCOUNTS[name]))

    with RolloutRecorder(tmp_path) as recorder:
        for step in range(3):
            recorder.write(step=step, response="a")

    assert (len(rows_of(shard)), recorder.dropped) == (4, 0)
    assert account(shard) == {"rows": 3, "lost": {}, "token_arrays_left_out": 0, "ended": True}


@pytest.mark.parametrize("occupied", [a_folder, a_pipe, a_device], ids=lambda one: one.__name__)
def test_an_account_that_cannot_be_kept_costs_no_row(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, occupied: Callable[[Path], None]
) -> None:
    """What is in its place is never waited for; rows are written all the same, and it is said once."""
    occupied(account_path(tmp_path / "rank_0.jsonl"))

    with RolloutRecorder(tmp_path) as recorder:
        for step in range(3):
            recorder.write(step=step, response="a")

    assert (len(rows_of(recorder.path())), recorder.dropped) == (3, 0)
    assert said(caplog, "account") == len(caplog.records) == 1


@pytest.mark.parametrize("occupied", [a_folder, a_pipe, a_device], ids=lambda one: one.__name__)
def test_what_is_no_file_is_no_shard(tmp_path: Path, caplog: pytest.LogCaptureFixture, occupied: Callable[[Path], None]) -> None:
    """A pipe in the shard's place would be waited for once it is full: its rows are refused by the disk instead, and written once it is gone."""
    shard = tmp_path / "rank_0.jsonl"
    occupied(shard)

    with RolloutRecorder(tmp_path) as recorder:
        for step in range(200):
            recorder.write(step=step, response="a" * 1_000)
        recorder.flush()
        assert recorder.dropped == 200
        shard.rmdir() if occupied is a_folder else shard.unlink()
        recorder.write(step=200, response="a")

    assert [row["step"] for row in rows_of(shard)] == [200]
    assert account(shard)["lost"] == {"disk": 200}
    assert said(caplog, "disk") == len(caplog.records) == 1


ENDS: dict[str, type[BaseException]] = {"exit": SystemExit, "interrupt": KeyboardInterrupt, "error": ValueError}


@pytest.mark.parametrize("name", ENDS)
def test_a_hook_that_wants_to_end_the_process_is_counted_in_full(tmp_path: Path, name: str) -> None:
    """Every row that a hook fails on is a loss, whatever it raises; the rows between them are written."""

    def redact(row: dict[str, Any]) -> dict[str, Any]:
        if row["step"] % 2:
            raise ENDS[name]
        return row

    with RolloutRecorder(tmp_path, redact=redact) as recorder:
        recorder.write_batch(step=list(range(10)), response="a")
        for step in range(10, 20):
            recorder.write(step=step, response="a")
        recorder.flush()
        assert recorder._queue._waiting == 0  # type: ignore[attr-defined]

    assert recorder.dropped == 10
    assert [row["step"] for row in rows_of(recorder.path())] == list(range(0, 20, 2))
    assert account(recorder.path()) == {"rows": 10, "lost": {"redaction": 10}, "token_arrays_left_out": 0, "ended": True}


def test_a_hook_that_wants_to_end_the_process_does_not_end_training(tmp_path: Path) -> None:
    """Where rows are written at once, exit is a counted loss as well; Ctrl+C in a hook is training's own."""

    def redact(row: dict[str, Any]) -> dict[str, Any]:
        raise row.pop("error")

    with RolloutRecorder(tmp_path, redact=redact, wait=True) as recorder:
        recorder.write(step=0, error=SystemExit())
        with pytest.raises(KeyboardInterrupt):
            recorder.write(step=0, error=KeyboardInterrupt())

    assert recorder.dropped == 2


WRITER = """
import sys, time
from board.recorder import RolloutRecorder
recorder = RolloutRecorder(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    for step in range(5):
        for at in range(8):
            recorder.write(step=step, response=line.strip(), at=at)
    recorder.flush()
    print("written", flush=True)
recorder.close()
"""


def writer(folder: Path) -> "subprocess.Popen[str]":
    """A process that writes 40 rows for every line it is told, and ends with its input."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def tell(process: "subprocess.Popen[str]", word: str) -> None:
    """Have rows written, without waiting for it."""
    assert process.stdin is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()


def heard(process: "subprocess.Popen[str]") -> str:
    """The next line of a process."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_eight_processes_keep_one_account(tmp_path: Path) -> None:
    """Writing as one rank at once, they add up to what the file holds, killed ones too; it has ended once the last of them has."""
    writers = [writer(tmp_path) for _ in range(8)]
    assert [heard(one) for one in writers] == ["ready"] * 8
    for round_ in ("first", "second"):
        for one in writers:
            tell(one, round_)
        assert [heard(one) for one in writers] == ["written"] * 8
    shard = tmp_path / "rank_0.jsonl"
    killed, *others, last = writers
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    for one in others:
        one.communicate(timeout=60)
    before = account(shard)
    last.communicate(timeout=60)

    assert len(rows_of(shard)) == 8 * 2 * 40
    assert not before["ended"]
    assert account(shard) == {
        "rows": 8 * 2 * 40 - 8,
        "lost": {},
        "token_arrays_left_out": 0,
        "ended": True,
    }  # less one's last step


def test_one_who_does_not_go_on_holds_up_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another has the turn for too long rows are written all the same, and the account is made good with the next step."""
    monkeypatch.setattr(turns, "_WAIT_SECONDS", 0.05)
    with RolloutRecorder(tmp_path, wait=True) as recorder:
        recorder.write(step=0, response="a")
        stopped = os.open(recorder.path(), os.O_RDWR)
        with turns.turn(stopped):
            recorder.write(step=1, response="a")
        os.close(stopped)
        assert account(recorder.path())["rows"] == 0
        recorder.write(step=2, response="a")
        assert account(recorder.path())["rows"] == 2

    assert said(caplog, "account") == len(caplog.records) == 1
    assert account(recorder.path()) == {"rows": 3, "lost": {}, "token_arrays_left_out": 0, "ended": True}
