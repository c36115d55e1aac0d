"""Filters kept by name, and those used last."""

from pathlib import Path

import pytest

from board.errors import BoardError
from board.user_files import named_filters


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the filters of this test are kept."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path))
    return tmp_path


def test_saved_replaced_and_forgotten() -> None:
    """A filter is there under its name until it is replaced, or saved empty."""
    named_filters.save(" good ", "reward > 1")
    named_filters.save("bad", "reward < 1\n-- step = 3")
    named_filters.save("good", "reward > 2")
    assert named_filters.load() == {"bad": "reward < 1\n-- step = 3", "good": "reward > 2"}

    named_filters.save("bad", "")
    assert named_filters.load() == {"good": "reward > 2"}


def test_a_name_that_cannot_be_shown_is_refused() -> None:
    """A name is one line that can be seen, as of everything that is named."""
    with pytest.raises(BoardError, match="can be shown"):
        named_filters.save("a\nb", "reward > 1")


def test_settings_that_cannot_be_read_hold_no_filters(settings: Path) -> None:
    """Where the file is a folder there are no filters, and no error: the board works without."""
    (settings / "filters.json").mkdir()

    assert named_filters.load() == {}


def test_the_last_used_stand_first() -> None:
    """Filters of before, each once, the latest first, and no more than the most."""
    for at in range(named_filters.MOST + 5):
        named_filters.used(f"reward > {at}")
    named_filters.used("reward > 10")

    found = named_filters.recent()
    assert found[:2] == ("reward > 10", f"reward > {named_filters.MOST + 4}")
    assert len(found) == len(set(found)) == named_filters.MOST


@pytest.mark.parametrize("damage", ["", "{", "3", '{"a": 1}', "[1, null]", pytest.param("[" * 100_000, id="deep")])
def test_a_damaged_list_is_an_empty_one(damage: str) -> None:
    """What cannot be read is no list of filters; the next filter begins it anew."""
    named_filters.RECENT.path.write_text(damage)
    assert named_filters.recent() == ()

    named_filters.used("reward > 1")
    assert named_filters.recent() == ("reward > 1",)


def test_a_filter_that_is_no_text_is_not_kept() -> None:
    """Half a character cannot be written, and breaks nothing."""
    named_filters.used("x = '\ud800'")

    assert named_filters.recent() == ()
