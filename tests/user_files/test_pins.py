"""Pins are kept for the next session, in the order of pinning."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.user_files import pins


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settings folder of the test's own."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / "settings"))


def test_pins_are_kept_in_the_order_of_pinning() -> None:
    """What is pinned is there until it is unpinned, the newest last, and of too many the oldest go."""
    assert tuple(pins.KEPT.read()) == ()
    assert pins.toggle("b") == ("b",)
    assert pins.toggle("a") == ("b", "a")
    assert pins.toggle("b") == tuple(pins.KEPT.read()) == ("a",)
    pins.KEPT.change(lambda held: dict.fromkeys(map(str, range(pins.MOST)), True))
    assert pins.toggle("new")[::499] == ("1", "new")


@given(st.lists(st.sampled_from("abc"), max_size=6))
def test_pinning_twice_is_not_pinning(keys: list[str]) -> None:
    """A metric is pinned exactly when it was asked for an odd number of times."""
    before = set(pins.KEPT.read())
    for key in keys:
        pins.toggle(key)

    assert set(pins.KEPT.read()) == before ^ {key for key in keys if keys.count(key) % 2}
