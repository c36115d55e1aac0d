"""Views of the table of rollouts kept by name: saved, renamed, deleted, and files that hold none."""

import json
from pathlib import Path
from typing import Any

import pytest

from board.errors import BoardError
from board.user_files import table_views
from board.user_files.table_views import NARROWEST, TableView

VIEW = TableView("worst", ("reward", "kl_k3/max"), "kl_k3/max", "descending", "wait", "reward > 0", 320)


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the views of this test are kept."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path))


def test_saved_renamed_and_deleted() -> None:
    """A view is read back as it was saved, has one name at a time, and is gone once it is deleted."""
    assert table_views.KEPT.read() == {}

    assert table_views.save(VIEW, VIEW.name) == "worst"
    assert table_views.save(VIEW, " Last ") == "Last"
    (kept,) = table_views.KEPT.read().values()
    assert kept == TableView("Last", *list(VIEW.__dict__.values())[1:])
    assert table_views.save(kept, "Last") == "Last"
    assert len(table_views.KEPT.read()) == 1
    table_views.KEPT.put("Last", None)
    assert table_views.KEPT.read() == {}


def test_name_that_cannot_be_shown_keeps_the_old_one() -> None:
    """A view is renamed as a whole or not at all."""
    table_views.save(VIEW, VIEW.name)

    with pytest.raises(BoardError, match="A view needs a name"):
        table_views.save(VIEW, " ")

    assert [*table_views.KEPT.read()] == ["worst"]


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
    table_views.save(VIEW, VIEW.name)
    held = json.loads(table_views.KEPT.path.read_bytes())
    table_views.KEPT.path.write_text(json.dumps({"worst": held["worst"] | DAMAGE[name]}))

    with pytest.raises(BoardError, match="no view"):
        table_views.KEPT.read()
