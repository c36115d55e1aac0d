"""What a reader saved for any run: pins, filters, custom metrics, views of a table."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.errors import BoardError
from board.settings import saved
from board.settings.json_settings import by_name
from board.settings.saved import NARROWEST, TableView


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settings folder of the test's own."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path))


def test_pins_are_kept_in_the_order_of_pinning() -> None:
    """What is pinned is there until it is unpinned, the newest last, and of too many the oldest go."""
    assert tuple(saved.PINS.read()) == ()
    assert saved.toggle_pin("b") == ("b",)
    assert saved.toggle_pin("a") == ("b", "a")
    assert saved.toggle_pin("b") == tuple(saved.PINS.read()) == ("a",)
    saved.PINS.update(lambda held: dict.fromkeys(map(str, range(saved.MOST_PINS)), True))
    assert saved.toggle_pin("new")[::499] == ("1", "new")


@given(st.lists(st.sampled_from("abc"), max_size=6))
def test_pinning_twice_is_not_pinning(keys: list[str]) -> None:
    """A metric is pinned exactly when it was asked for an odd number of times."""
    before = set(saved.PINS.read())
    for key in keys:
        saved.toggle_pin(key)

    assert set(saved.PINS.read()) == before ^ {key for key in keys if keys.count(key) % 2}


def test_filters_are_saved_replaced_and_forgotten() -> None:
    """A filter is there under its name until it is replaced, or saved empty."""
    saved.save_filter(" good ", "reward > 1")
    saved.save_filter("bad", "reward < 1\n-- step = 3")
    saved.save_filter("good", "reward > 2")
    assert saved.filters() == {"bad": "reward < 1\n-- step = 3", "good": "reward > 2"}

    saved.save_filter("bad", "")
    assert saved.filters() == {"good": "reward > 2"}


def test_a_name_that_cannot_be_shown_is_refused() -> None:
    """A name is one line that can be seen, as of everything that is named."""
    with pytest.raises(BoardError, match="can be shown"):
        saved.save_filter("a\nb", "reward > 1")


def test_settings_that_cannot_be_read_hold_no_filters(tmp_path: Path) -> None:
    """Where the file is a folder there are no filters, and no error: the board works without."""
    (tmp_path / "filters.json").mkdir()

    assert saved.filters() == {}


def test_the_last_used_stand_first() -> None:
    """Filters of before, each once, the latest first, and no more than the most."""
    for at in range(saved.MOST_RECENT + 5):
        saved.filter_used(f"reward > {at}")
    saved.filter_used("reward > 10")

    found = saved.recent_filters()
    assert found[:2] == ("reward > 10", f"reward > {saved.MOST_RECENT + 4}")
    assert len(found) == len(set(found)) == saved.MOST_RECENT


@pytest.mark.parametrize("damage", ["", "{", "3", '{"a": 1}', "[1, null]", pytest.param("[" * 100_000, id="deep")])
def test_a_damaged_list_is_an_empty_one(damage: str) -> None:
    """What cannot be read is no list of filters, and is not written over."""
    saved.RECENT_FILTERS.path.write_text(damage)
    assert saved.recent_filters() == ()

    saved.filter_used("reward > 1")
    assert saved.RECENT_FILTERS.path.read_text() == damage


def test_a_filter_that_is_no_text_is_not_kept() -> None:
    """Half a character cannot be written, and breaks nothing."""
    saved.filter_used("x = '\ud800'")

    assert saved.recent_filters() == ()


QUERY = "SELECT step, avg(reward) FROM rollouts GROUP BY ALL"


def test_queries_are_saved_chosen_and_deleted() -> None:
    """A metric is there under its name until it is deleted; saving it again replaces it; case does not count for the order."""
    assert saved.QUERIES.read() == {}

    saved.save_query("solved", QUERY)
    saved.save_query(" Best ", f"\n{QUERY}\n")
    saved.save_query("solved", "SELECT 1")

    assert [*by_name(saved.QUERIES.read()).items()] == [("Best", QUERY), ("solved", "SELECT 1")]
    saved.QUERIES.put("solved", None)
    assert saved.QUERIES.read() == {"Best": QUERY}


@pytest.mark.parametrize(
    ("name", "query", "wanted"), [("a", " \n", "no query"), ("a", "SELECT '\ud800'", "no text"), ("", QUERY, "needs a name")]
)
def test_queries_that_cannot_be_kept(name: str, query: str, wanted: str) -> None:
    """There must be a name and a query, and it must be text."""
    with pytest.raises(BoardError, match=wanted):
        saved.save_query(name, query)

    assert saved.QUERIES.read() == {}


def test_queries_of_version_0_2_are_taken_over(tmp_path: Path) -> None:
    """They are a file each, read until something is saved or deleted, and stay where they are; what is none is passed over."""
    (tmp_path / "custom_metrics").mkdir()
    for at, held in enumerate(
        ({"name": "a", "query": QUERY}, {"name": "b", "query": "SELECT 2"}, {"name": "c", "query": 3}, [4])
    ):
        (tmp_path / "custom_metrics" / f"{at}.json").write_text(json.dumps(held))

    assert saved.QUERIES.read() == {"a": QUERY, "b": "SELECT 2"}
    saved.QUERIES.put("a", None)
    assert saved.QUERIES.read() == {"b": "SELECT 2"}
    assert len([*(tmp_path / "custom_metrics").iterdir()]) == 4


VIEW = TableView("worst", ("reward", "kl_k3/max"), "kl_k3/max", "descending", "wait", "reward > 0", 320)


def test_views_are_saved_renamed_and_deleted() -> None:
    """A view is read back as it was saved, has one name at a time, and is gone once it is deleted."""
    assert saved.VIEWS.read() == {}

    assert saved.save_view(VIEW, VIEW.name) == "worst"
    assert saved.save_view(VIEW, " Last ") == "Last"
    (kept,) = saved.VIEWS.read().values()
    assert kept == TableView("Last", *list(VIEW.__dict__.values())[1:])
    assert saved.save_view(kept, "Last") == "Last"
    assert len(saved.VIEWS.read()) == 1
    saved.VIEWS.put("Last", None)
    assert saved.VIEWS.read() == {}


def test_name_that_cannot_be_shown_keeps_the_old_one() -> None:
    """A view is renamed as a whole or not at all."""
    saved.save_view(VIEW, VIEW.name)

    with pytest.raises(BoardError, match="A view needs a name"):
        saved.save_view(VIEW, " ")

    assert [*saved.VIEWS.read()] == ["worst"]


DAMAGE: dict[str, dict[str, Any]] = {
    "no columns": {"columns": None},
    "columns of numbers": {"columns": [1]},
    "unknown order": {"order": "sideways"},
    "width of a wall": {"width": 10**9},
    "width of a hair": {"width": NARROWEST - 1},
    "sort by a list": {"sort": ["reward"]},
}


@pytest.mark.parametrize("name", DAMAGE)
def test_files_that_hold_no_view_are_told(name: str) -> None:
    """What a hand wrote wrongly is told."""
    saved.save_view(VIEW, VIEW.name)
    held = json.loads(saved.VIEWS.path.read_bytes())
    saved.VIEWS.path.write_text(json.dumps({"worst": held["worst"] | DAMAGE[name]}))

    with pytest.raises(BoardError, match="no view"):
        saved.VIEWS.read()
