"""board.user_files.pins: pins are kept for the next session, in order, and a damaged file is told and never lost."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.errors import BoardError
from board.user_files import pins


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings folder of the test's own."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / "settings"))
    return tmp_path / "settings"


def test_pins_are_kept_in_the_order_of_pinning() -> None:
    """What is pinned is there until it is unpinned, the newest last."""
    assert pins.read() == ()
    assert pins.toggle("b") == ("b",)
    assert pins.toggle("a") == ("b", "a")
    assert pins.toggle("b") == pins.read() == ("a",)


HOSTILE = ["", "\n\x00", "../..", '"]', "\ud800", "奖励", "![](http://evil)"]


@pytest.mark.parametrize("key", HOSTILE)
def test_any_name_can_be_pinned(key: str) -> None:
    """Names of scalars are a trainer's: whatever they hold comes back as it was."""
    pins.toggle("first")
    pins.toggle(key)

    assert pins.read() == ("first", key)


DAMAGED = {"no JSON": b"[", "no list": b"{}", "no names": b"[1]", "no text": b"\xff\xfe", "deep": b"[" * 100_000}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_told_and_set_aside(settings: Path, name: str) -> None:
    """A file that cannot be read is an error that names it; the next pin sets it aside, whole."""
    settings.mkdir()
    (settings / pins.NAME).write_bytes(DAMAGED[name])

    with pytest.raises(BoardError, match=pins.NAME):
        pins.read()
    pins.toggle("a")

    assert pins.read() == ("a",)
    (aside,) = (path for path in settings.iterdir() if path.name != pins.NAME)
    assert aside.read_bytes() == DAMAGED[name]


def test_another_board_s_pins_stay(settings: Path) -> None:
    """A change is made to what the file says now, so that what another board pinned meanwhile is not lost."""
    pins.toggle("ours")
    (settings / pins.NAME).write_text(json.dumps(["ours", "theirs"]))

    assert pins.toggle("more") == ("ours", "theirs", "more")


def test_a_folder_that_cannot_be_written_is_told(settings: Path) -> None:
    """Where the settings cannot be kept, the error says which file."""
    settings.write_text("a file where the folder should be")

    with pytest.raises(BoardError):
        pins.toggle("a")


@given(st.lists(st.sampled_from("abc"), max_size=12))
def test_pinning_twice_is_not_pinning(keys: list[str]) -> None:
    """A metric is pinned exactly when it was asked for an odd number of times."""
    before = set(pins.read())
    for key in keys:
        pins.toggle(key)

    assert set(pins.read()) == before ^ {key for key in keys if keys.count(key) % 2}
