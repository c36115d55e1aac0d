"""What a reader keeps: a file for each kind, changed by several boards at once, damaged, and as version 0.2 kept it."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.errors import BoardError
from board.settings.json_settings import LONGEST_NAME, JsonSettings, exactly

REPOSITORY = Path(__file__).parents[2]
THINGS = JsonSettings("things", "thing", lambda held: {"text": exactly(str, held["text"])})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of this test."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / "settings"))
    return tmp_path / "settings"


def thing(text: str) -> dict[str, str]:
    """One of the kind."""
    return {"text": text}


def test_kept_replaced_and_deleted(folder: Path) -> None:
    """In the order of keeping, in one file for this user alone; what is replaced stays where it was."""
    assert THINGS.read() == {}
    for name in ("b", "a", "b"):
        THINGS.put(name, thing(name))
    THINGS.put("never there", None)

    assert [*THINGS.read()] == ["b", "a"]
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "things.json"]
    assert (folder.stat().st_mode | THINGS.path.stat().st_mode & 0o022) & 0o077 == 0
    THINGS.put("b", None)
    assert THINGS.read() == {"a": thing("a")}


NAMES = ["a", "A", "ä", "a/b", "../../etc/passwd", "C:\\x", ".", "..", "值", "名" * LONGEST_NAME, "<b>x</b>", "a_b", "", "\n\0"]


def test_any_name_is_another_entry(folder: Path) -> None:
    """Names are a trainer's too: whatever they hold comes back as it was."""
    for name in NAMES:
        THINGS.put(name, thing(name))

    assert [*THINGS.read()] == NAMES


@pytest.mark.parametrize("name", ["", " \t", "x" * (LONGEST_NAME + 1), "a\nb", "a\0", "a\u202eb", "a\x1b[31m", "\ud800"])
def test_names_that_cannot_be_shown(name: str) -> None:
    """A name that a reader gives is one line of 1 to 80 characters that can be seen."""
    assert THINGS.checked_name(" a ") == "a"
    with pytest.raises(BoardError, match="A thing needs a name of 1 to 80 characters that can be shown"):
        THINGS.checked_name(name)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@settings(max_examples=20)
@given(st.dictionaries(TEXTS, TEXTS, max_size=4))
def test_read_back_as_written(texts: dict[str, str]) -> None:
    """Whatever can be kept is read back letter for letter."""
    THINGS.update(lambda held: {name: thing(text) for name, text in texts.items()})

    assert THINGS.read() == {name: thing(text) for name, text in texts.items()}


def test_half_a_character_is_refused() -> None:
    """No page could show it; what was kept before stays."""
    THINGS.put("a", thing("before"))
    with pytest.raises(BoardError, match="no text"):
        THINGS.put("a", thing("\ud800"))
    with pytest.raises(BoardError, match="no text"):
        THINGS.put("\ud800", thing("b"))

    assert THINGS.read() == {"a": thing("before")}


DAMAGED = {
    "empty": b"",
    "cut off": b'{"a": {"te',
    "a number": b"3",
    "numbers": b"[1]",
    "a thing that is none": b'{"good": {"text": "x"}, "bad": {"text": 3}}',
    "no UTF-8": b"\xff\xfe",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_told_and_stays(name: str, folder: Path) -> None:
    """It is an error that names it, and nothing is written over it."""
    folder.mkdir()
    THINGS.path.write_bytes(DAMAGED[name])
    for use in (THINGS.read, lambda: THINGS.put("a", thing("new"))):
        with pytest.raises(BoardError, match=r"things\.json is damaged.*move it away"):
            use()

    assert THINGS.path.read_bytes() == DAMAGED[name]


def test_pins_of_version_0_2_are_taken_over(folder: Path) -> None:
    """They are a list of names."""
    folder.mkdir()
    pins = JsonSettings("pins", "pin", partial(exactly, bool))
    pins.path.write_text('["b", "a", "b"]')

    assert [*pins.read()] == ["b", "a"]


UNWRITABLE: dict[str, Any] = {
    "a file for a folder": lambda folder: folder.write_text(""),
    "a folder for a file": lambda folder: THINGS.path.mkdir(parents=True),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_cannot_be_written_is_told(name: str, folder: Path) -> None:
    """The file is named, and nothing else is left lying about."""
    UNWRITABLE[name](folder)
    with pytest.raises(BoardError, match=r"things\.json cannot be (written|read)"):
        THINGS.put("a", thing("x"))

    assert not [path for path in folder.parent.rglob("*") if path.suffix == ".tmp"]


SAVER = """
import sys
from board.settings.json_settings import JsonSettings
kept = JsonSettings("things", "thing", lambda held: held)
for number in range(20):
    kept.put(f"{sys.argv[1]} {number}", number)
    kept.put("shared", sys.argv[1] + " " * 5_000)
    assert kept.read()["shared"].strip() in "abc"
"""


def test_boards_that_save_at_once_lose_nothing(folder: Path) -> None:
    """Several processes save and read at the same time: all of it is there afterwards, and nobody ever reads half a file."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    started = [subprocess.Popen([sys.executable, "-c", SAVER, board], env=environment) for board in "abc"]

    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]

    held = json.loads(THINGS.path.read_text())
    assert {*held} == {"shared", *(f"{board} {number}" for board in "abc" for number in range(20))}
