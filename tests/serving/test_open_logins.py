"""Tests of the logins that are open, as files in the user's state."""

import os
import time
from pathlib import Path

import pytest

from board.serving import open_logins
from board.serving.open_logins import OpenLogins


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's state."""
    monkeypatch.setenv("RL_BOARD_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def test_from_begin_to_end(state: Path) -> None:
    """A login is open from when it began until it ends, for other processes too; no other is."""
    ours = OpenLogins(1)
    assert not ours.is_open(b"ana")
    ours.begin(b"ana")
    assert OpenLogins(1).is_open(b"ana")
    assert not ours.is_open(b"eve")
    OpenLogins(1).end(b"ana")
    ours.end(b"never begun")
    assert not ours.is_open(b"ana")


def test_after_its_hours(state: Path) -> None:
    """One that is old is open no more, nor is one from a clock that runs ahead; a new log-in by the same cookie is."""
    ours = OpenLogins(2)
    ours.begin(b"ana")
    (file,) = (state / "logins").iterdir()
    for hours, is_open in ((1.9, True), (2.1, False), (-1, False)):
        os.utime(file, (0, time.time() - hours * 3600))
        assert ours.is_open(b"ana") is is_open
    ours.begin(b"ana")
    assert ours.is_open(b"ana")


def test_nobody_else_sees_who_logged_in(state: Path) -> None:
    """Files are for the user alone, and their names say nothing of whose they are."""
    OpenLogins(1).begin(b'{"email": "ana@example.org"}')
    (file,) = (state / "logins").iterdir()
    assert [path.stat().st_mode & 0o777 for path in (file.parent, file)] == [0o700, 0o600]
    assert "ana" not in file.name
    assert file.read_bytes() == b""


def test_no_more_than_a_bound(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may log in can fill no disk: the oldest ends. What is too old for any board is removed."""
    monkeypatch.setattr(open_logins, "MOST", 3)
    ours = OpenLogins(1)
    for at in range(5):
        ours.begin(str(at).encode())
        for file in (state / "logins").iterdir():
            os.utime(file, (0, file.stat().st_mtime - 10))
    assert [ours.is_open(str(at).encode()) for at in range(5)] == [False, False, True, True, True]
    for file in (state / "logins").iterdir():
        os.utime(file, (0, time.time() - 800 * 3600))
    ours.begin(b"new")
    assert len([*(state / "logins").iterdir()]) == 1


def test_something_else_in_its_place(state: Path, tmp_path: Path) -> None:
    """A link or a folder of the name of a login is none."""
    ours = OpenLogins(1)
    ours.begin(b"ana")
    (file,) = (state / "logins").iterdir()
    file.unlink()
    file.symlink_to(tmp_path)
    assert not ours.is_open(b"ana")
    with pytest.raises(OSError, match=r"Too many levels|symbolic"):
        ours.begin(b"ana")
    file.unlink()
    file.mkdir()
    assert not ours.is_open(b"ana")
