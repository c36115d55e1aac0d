"""Tests of `push` where something fails: a library, a tracker, the disk, the reader of its output, the command itself."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pushed import REPOSITORY, SAMPLE, expected, grown, in_tensorboard, lines, pushed, started

MISSING = """
import sys
sys.modules["tensorboard"] = None
from board.cli.main import main
main(["push", sys.argv[1], "--to", "tensorboard"])
"""


def test_a_library_that_is_missing(tmp_path: Path) -> None:
    """The command says what to install, and nothing counts as pushed."""
    grown(tmp_path / "run", range(2))
    command = [sys.executable, "-c", MISSING, str(tmp_path / "run")]
    ended = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True
    )

    assert (ended.returncode, ended.stdout) == (3, "")
    assert f"{shlex.quote(sys.executable)} -m pip install tensorboard" in ended.stderr
    assert "Traceback" not in ended.stderr
    pushed(tmp_path / "run", "--to", "tensorboard", "--log-dir", tmp_path / "tb")
    assert in_tensorboard(tmp_path / "tb" / "run") == expected(tmp_path / "run", np.float32)


def test_a_tracker_that_fails_in_the_middle(tmp_path: Path) -> None:
    """Nobody reads the other end of standard output any more: the command says so, and the next call prints what was not noted again."""
    grown(tmp_path / "run", range(300))
    with started(tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--resume") as process:
        assert process.stdout
        assert process.stderr
        for _ in range(20):
            process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()

    assert process.returncode == 3
    assert "stdout failed (BrokenPipeError" in errors
    assert "handed over before: the next push hands those over again that were not noted yet" in errors
    output, _ = pushed(tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", "--resume")
    assert [line["step"] for line in lines(output)] == [*range(300)]


def test_what_was_printed_is_printed_again(tmp_path: Path) -> None:
    """Nobody knows who read the first: each call prints every step, until it is asked to go on where the last such call ended."""
    grown(tmp_path / "run", range(3))
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples")
    outputs = [pushed(*arguments, *more)[0] for more in ([], [], ["--resume"], ["--resume"], [])]
    grown(tmp_path / "run", range(3, 5))
    outputs.append(pushed(*arguments, "--resume")[0])

    printed = [[line["step"] for line in lines(output)] for output in outputs]
    assert printed == [[0, 1, 2], [0, 1, 2], [0, 1, 2], [], [0, 1, 2], [3, 4]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("more", [[], ["--resume"]], ids=["", "resume"])
def test_a_full_disk_is_a_failure(tmp_path: Path, more: list[str]) -> None:
    """What standard output did not take is not pushed: an exit status of its own, and the next call prints it."""
    grown(tmp_path / "run", range(3))
    arguments = (tmp_path / "run", "--to", "stdout", "--format", "jsonl", "--no-examples", *more)
    full = started(*arguments, output=Path("/dev/full"))
    _, errors = full.communicate(timeout=60)
    output, _ = pushed(*arguments)

    assert full.returncode == 3
    assert "No space left on device" in errors
    assert "Traceback" not in errors
    assert [line["step"] for line in lines(output)] == [0, 1, 2]


def test_standard_output_that_is_closed(tmp_path: Path) -> None:
    """Without a standard output the command says so."""
    grown(tmp_path / "run", range(2))
    command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "board", "push", str(tmp_path / "run"), "--to", "stdout"]
    ended = subprocess.run(command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True, timeout=60)

    assert ended.returncode == 3
    assert ended.stderr == "Error: There is no standard output to write to: it was closed.\n"


WRONG: dict[str, tuple[list[str], int, str]] = {
    "no such run": (["{tmp}/nowhere", "--to", "stdout"], 2, "Error: "),
    "no shard": (["{tmp}", "--to", "stdout"], 2, "Error: "),
    "a file in the way": (["{sample}", "--to", "tensorboard", "--log-dir", "{tmp}/file"], 3, "tensorboard failed"),
    "an option of another tracker": (["{sample}", "--to", "stdout", "--project", "p"], 2, "stdout takes no --project"),
    "a tracker nobody knows": (["{sample}", "--to", "comet"], 2, "comet"),
    "no tracker": (["{sample}"], 2, "--to"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG.values(), ids=WRONG)
def test_what_goes_wrong_is_one_clear_sentence(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    """No traceback, nothing on standard output, and an exit status that tells."""
    (tmp_path / "file").write_text("in the way")
    output, errors = pushed(*(one.format(tmp=tmp_path, sample=SAMPLE) for one in arguments), code=code)

    assert output == ""
    assert message in errors
    assert "Traceback" not in errors
