"""board.system.child_process: a process of ours finds the board, wherever we were called from, and has the environment it is given."""

import json
import subprocess
from pathlib import Path

import pytest

import board
from board.system import child_process

TELL = """
import json, os, sys, board
print(json.dumps({"board": board.__file__, "environment": dict(os.environ), "said": sys.stdin.read()}))
"""


@pytest.fixture
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PYTHONPATH names a folder with the module `tell`; we were called from one with modules that nobody should import."""
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "tell.py").write_text(TELL)
    (tmp_path / "here").mkdir()
    for name in ("json", "board", "numpy"):
        (tmp_path / "here" / f"{name}.py").write_text("raise SystemExit('imported from here')")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "ours"))


@pytest.mark.usefixtures("_elsewhere")
def test_it_finds_this_board_and_nothing_by_chance() -> None:
    """What PYTHONPATH names is found, this board before it, and what lies in the current folder is not; input and output are pipes."""
    told, _ = child_process.start("tell", {}).communicate(b"hello")

    assert (json.loads(told)["board"], json.loads(told)["said"]) == (board.__file__, "hello")


@pytest.mark.usefixtures("_elsewhere")
def test_it_has_the_environment_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else of ours is handed on, secrets least of all."""
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    told, _ = child_process.start("tell", {"GIVEN": "1"}).communicate(b"")

    assert {"GIVEN", "PYTHONPATH"} <= set(json.loads(told)["environment"]) <= {"GIVEN", "PYTHONPATH", "LC_CTYPE"}


def test_its_errors_can_be_read(tmp_path: Path) -> None:
    """A file may be its input, and what it says of its failure is had by who asks for it."""
    (tmp_path / "asked").write_bytes(b"{")
    with (tmp_path / "asked").open("rb") as asked:
        process = child_process.start("json.tool", {}, stdin=asked, stderr=subprocess.PIPE)
        _, said = process.communicate()

    assert process.returncode == 1
    assert b"Expecting property name" in said
