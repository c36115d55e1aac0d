"""Tests of what the reader says of runs: kept whole, by the path of the run."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from board.errors import BoardError
from board.user_files import run_notes
from board.user_files.run_notes import RunNote


def test_what_is_said_is_kept() -> None:
    """All of it, by the run's path, and one field after another, whatever was on the screen of who changes it."""
    run_notes.change("/a", title="  Seed   7 ", tags=("sweep",))
    run_notes.change("/b", title="other")
    run_notes.change("/a", note="# KL *rises*\n<b>", pinned=True, colour="teal")
    kept = run_notes.change("/a", hidden=True)
    assert kept == RunNote("/a", "Seed 7", ("sweep",), "# KL *rises*\n<b>", pinned=True, hidden=True, colour="teal")
    assert run_notes.read() == {"/a": kept, "/b": RunNote("/b", "other")}


def test_notes_that_were_kept_by_how_a_run_begins() -> None:
    """They are read as those of their path, and stand under it once anything is said."""
    run_notes.change("/a", title="one")
    earlier = asdict(RunNote("/b", "two")) | {"first": "d1", "id": "1f"}
    run_notes.KEPT.path.write_text(json.dumps({"1f": earlier}))
    assert run_notes.read() == {"/b": RunNote("/b", "two")}
    run_notes.change("/b", pinned=True)
    assert run_notes.KEPT.read() == {"/b": RunNote("/b", "two", pinned=True)}


def test_a_note_of_which_nothing_is_left_is_forgotten() -> None:
    """Nothing of it stays."""
    run_notes.change("/a", pinned=True)
    assert run_notes.change("/a", pinned=False) == RunNote("/a")
    assert run_notes.KEPT.read() == {}


REFUSED: dict[str, dict[str, Any]] = {
    "a name that is not to be seen": {"title": "a\x00b"},
    "a tag without end": {"tags": ("x" * 41,)},
    "tags without end": {"tags": tuple(map(str, range(21)))},
    "half a character": {"note": "\ud800"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_kept_is_refused_and_what_was_kept_stays(name: str) -> None:
    """In a sentence."""
    run_notes.change("/a", title="before")
    with pytest.raises(BoardError):
        run_notes.change("/a", **REFUSED[name])
    assert run_notes.read()["/a"].title == "before"
