"""Tests of whose a shard is, and of what stands or happens in its place."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded import account, rows_of

from board import open_run
from board.findings.checks.all_checks import run_checks
from board.recorder import RolloutRecorder
from board.recorder.writer import account_path

REPOSITORY = Path(__file__).parents[2]

ENDED = {"lost": {}, "token_arrays_left_out": 0, "ended": True}
"""The account of a shard that is complete."""


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
def test_a_file_that_is_taken_away_is_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, noted: bool, wait: bool
) -> None:
    """What is written next goes to a new file; the rows that went with the old one are no loss of the recorder's."""
    with RolloutRecorder(tmp_path / "run", wait=wait) as recorder:
        for step in range(100):
            recorder.write(step=step if noted else 0, response="a")
        recorder.flush()
        REMOVALS[name](recorder.path())
        for step in range(200):
            recorder.write(step=100 + step if noted else 0, response="b")
        recorder.flush()

    assert [row["response"] for row in rows_of(recorder.path())] == ["b"] * 200
    assert (recorder.dropped, account(recorder.path()), caplog.records) == (
        0,
        ENDED,
        [],
    )
    assert len(open_run(tmp_path / "run").frame) == 200


@pytest.mark.parametrize("name", REMOVALS)
def test_what_is_taken_away_last_is_not_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    """Closing makes neither a folder nor an account for a file that somebody has removed, and says nothing of it."""
    with RolloutRecorder(tmp_path / "run", step_bytes=10) as recorder:
        for _ in range(5):
            recorder.write(step=0, response="a", logprobs=[-1.0] * 9, ref_logprobs=[-1.0] * 9)
        recorder.end_step()
        recorder.flush()
        REMOVALS[name](recorder.path())

    assert (recorder.dropped, caplog.records) == (0, [])
    assert (tmp_path / "run").exists() == ("folder" not in name)
    assert account_path(recorder.path()).exists() == (
        name not in ("folder removed", "folder moved away", "file and account removed")
    )


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


LEFT: dict[str, bytes] = {
    "empty": b"",
    "whole": b'{"step": 0, "response": "a"}\n',
    "cut": b'{"step": 0, "resp',
    "only the newline lost": b'{"step": 0, "response": "a"}',
}


@pytest.mark.parametrize("name", LEFT)
def test_what_another_process_left_stays_as_it_is(tmp_path: Path, name: str) -> None:
    """A process with the id of one before it, as 1 in containers, goes on in files with a number behind, and all open as one run."""
    before = tmp_path / f"rank_0.{os.getpid()}.jsonl"
    before.write_bytes(LEFT[name])
    account_path(before).write_text('{"rows": 7}')
    for number in (2, 3):
        with RolloutRecorder(tmp_path) as recorder:
            recorder.write(step=number, response="a")
        assert recorder.path() == tmp_path / f"rank_0.{os.getpid()}-{number}.jsonl"
        assert account(recorder.path()) == ENDED

    assert (before.read_bytes(), account_path(before).read_text()) == (LEFT[name], '{"rows": 7}')
    assert open_run(tmp_path).frame["step"].tolist() == [0] * (name in ("whole", "only the newline lost")) + [2, 3]


def test_recorders_that_begin_at_once_share_no_file(tmp_path: Path) -> None:
    """Whoever is second to a name takes the next, though all of one rank and process ask for it in the same moment."""
    together = threading.Barrier(16)

    def work(number: int) -> None:
        with RolloutRecorder(tmp_path / "run", file_per="step", wait=True) as recorder:
            for step in range(5):
                together.wait(30)
                recorder.write(step=step, response="a", by=number)
                recorder.write(step=step, response="a", by=number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for step in range(5):
        shards = [*(tmp_path / "run" / f"step_{step}").glob("rank_0.*.jsonl")]
        pairs = [[row["by"] for row in rows_of(shard)] for shard in shards]
        assert sorted(pairs) == [[number] * 2 for number in range(16)]


def group(step: int, attempt: str) -> dict[str, Any]:
    """A batch of eight rollouts of two prompts at a step."""
    return {
        "prompt": [f"{step}?"] * 4 + [f"{step}!"] * 4,
        "response": [f"{attempt} {at}" for at in range(8)],
        "reward": [0.0, 1.0] * 4,
    }


@pytest.mark.parametrize(
    "before",
    ["rank_0.jsonl", "rank_0.4711.jsonl", f"rank_0.{os.getpid()}.jsonl"],
    ids=["older", "another process", "same process"],
)
def test_steps_that_a_resumed_job_wrote_again_are_told(tmp_path: Path, before: str) -> None:
    """It writes a file of its own beside the one before, be that of an older version; steps in both are named by the checks."""
    for attempt, steps in (("first", range(13)), ("second", range(9, 19))):
        with RolloutRecorder(tmp_path) as recorder:
            for step in steps:
                recorder.write_batch(step=step, **group(step, attempt))
        if attempt == "first":
            account_path(recorder.path()).rename(account_path(tmp_path / before))
            recorder.path().rename(tmp_path / before)
    run = open_run(tmp_path)
    (told,) = (finding for finding in run_checks(run).findings if finding.check.name == "two-files")

    assert (len(run.frame), run.report.problems) == ((13 + 10) * 8, [])
    assert told.what.startswith("4 steps in several files: 9, 10, 11, 12; 16 rather than 8 rollouts in a step;")


@pytest.mark.parametrize("occupied", [a_folder, a_pipe, a_device], ids=lambda one: one.__name__)
def test_what_stands_in_the_place_of_an_account_costs_no_row(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, occupied: Callable[[Path], None]
) -> None:
    """It is never read or waited for: the account takes its place, or, where it cannot, that is said once; rows are written all the same."""
    occupied(account_path(tmp_path / f"rank_0.{os.getpid()}.jsonl"))

    with RolloutRecorder(tmp_path) as recorder:
        for step in range(3):
            recorder.write(step=step, response="a")

    assert (len(rows_of(recorder.path())), recorder.dropped) == (3, 0)
    assert ["a file next to the rows cannot be written" in one.message for one in caplog.records] == [True] * (
        occupied is a_folder
    )
    assert occupied is a_folder or account(recorder.path())["ended"]


@pytest.mark.parametrize("occupied", [a_folder, a_pipe, a_device], ids=lambda one: one.__name__)
def test_what_is_no_file_is_no_shard(tmp_path: Path, occupied: Callable[[Path], None]) -> None:
    """A pipe in the shard's place would be waited for once it is full: rows go to a file beside whatever stands there."""
    occupied(tmp_path / f"rank_0.{os.getpid()}.jsonl")

    with RolloutRecorder(tmp_path) as recorder:
        for step in range(200):
            recorder.write(step=step, response="a" * 1_000)

    assert recorder.path().name == f"rank_0.{os.getpid()}-2.jsonl"
    assert ([row["step"] for row in rows_of(recorder.path())], recorder.dropped) == ([*range(200)], 0)


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
        assert recorder._queue._taken == recorder._queue._done > 0

    assert recorder.dropped == 10
    assert [row["step"] for row in rows_of(recorder.path())] == list(range(0, 20, 2))
    assert account(recorder.path()) == {"lost": {"redaction": 10}, "token_arrays_left_out": 0, "ended": True}


def test_a_hook_that_wants_to_end_the_process_does_not_end_training(tmp_path: Path) -> None:
    """Where `write` waits for its row, too, whatever a hook raises is a counted loss."""

    def redact(row: dict[str, Any]) -> dict[str, Any]:
        raise row.pop("error")

    with RolloutRecorder(tmp_path, redact=redact, wait=True) as recorder:
        recorder.write(step=0, error=SystemExit())
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


def test_eight_processes_of_one_rank_keep_an_account_each(tmp_path: Path) -> None:
    """Writing as one rank at once they disturb each other nowhere; that of a killed one says that it has not ended."""
    writers = [writer(tmp_path) for _ in range(8)]
    assert [heard(one) for one in writers] == ["ready"] * 8
    for round_ in ("first", "second"):
        for one in writers:
            tell(one, round_)
        assert [heard(one) for one in writers] == ["written"] * 8
    writers[0].send_signal(signal.SIGKILL)
    for one in writers:
        one.communicate(timeout=60)
    killed, *others = (tmp_path / f"rank_0.{one.pid}.jsonl" for one in writers)

    assert [len(rows_of(shard)) for shard in (killed, *others)] == [80] * 8
    assert account(killed) == {**ENDED, "ended": False}
    assert [account(shard) for shard in others] == [ENDED] * 7
    assert (len(open_run(tmp_path).frame), len([*tmp_path.glob("*.jsonl")])) == (8 * 80, 8)
