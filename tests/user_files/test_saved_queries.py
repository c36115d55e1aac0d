"""Custom metrics kept by name."""

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
