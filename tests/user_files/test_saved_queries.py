"""Custom metrics kept by name."""

import json
from pathlib import Path

import pytest

from board.errors import BoardError
from board.user_files.kept_entries import by_name
from board.user_files.saved_queries import KEPT, save

QUERY = "SELECT step, avg(reward) FROM rollouts GROUP BY ALL"


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the metrics of this test are kept."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path))


def test_saved_chosen_and_deleted() -> None:
    """A metric is there under its name until it is deleted; saving it again replaces it; case does not count for the order."""
    assert KEPT.read() == {}

    save("solved", QUERY)
    save(" Best ", f"\n{QUERY}\n")
    save("solved", "SELECT 1")

    assert [*by_name(KEPT.read()).items()] == [("Best", QUERY), ("solved", "SELECT 1")]
    KEPT.put("solved", None)
    assert KEPT.read() == {"Best": QUERY}


@pytest.mark.parametrize(
    ("name", "query", "wanted"), [("a", " \n", "no query"), ("a", "SELECT '\ud800'", "no text"), ("", QUERY, "needs a name")]
)
def test_what_cannot_be_kept(name: str, query: str, wanted: str) -> None:
    """There must be a name and a query, and it must be text."""
    with pytest.raises(BoardError, match=wanted):
        save(name, query)

    assert KEPT.read() == {}


def test_those_of_version_0_2_are_taken_over(tmp_path: Path) -> None:
    """They are a file each, read until something is saved or deleted, and stay where they are; what is none is passed over."""
    (tmp_path / "custom_metrics").mkdir()
    for at, held in enumerate(
        ({"name": "a", "query": QUERY}, {"name": "b", "query": "SELECT 2"}, {"name": "c", "query": 3}, [4])
    ):
        (tmp_path / "custom_metrics" / f"{at}.json").write_text(json.dumps(held))

    assert KEPT.read() == {"a": QUERY, "b": "SELECT 2"}
    KEPT.put("a", None)
    assert KEPT.read() == {"b": "SELECT 2"}
    assert len([*(tmp_path / "custom_metrics").iterdir()]) == 4
