"""Tests of what the reader says of runs: kept whole, for the run it was said of, wherever that lies now."""

from typing import Any

import pytest

from board.errors import BoardError
from board.user_files import run_notes
from board.user_files.run_notes import RunNote


def said_of(path: str, first: str | None, there: frozenset[str] = frozenset()) -> RunNote:
    """What is said of a run at a path that begins so, where these paths are there."""
    return run_notes.of(run_notes.KEPT.read().values(), [(path, first)], there.__contains__)[path]


def test_what_is_said_is_kept() -> None:
    """All of it, and one field after another."""
    note = run_notes.change(RunNote("/a"), "/a", "d1", title="  Seed   7 ", tags=("sweep",))
    note = run_notes.change(note, "/a", "d1", note="# KL *rises*\n<b>", pinned=True, colour="teal")
    run_notes.change(note, "/a", "d1", hidden=True)
    kept = said_of("/a", "d1")
    assert (kept.title, kept.tags, kept.note) == ("Seed 7", ("sweep",), "# KL *rises*\n<b>")
    assert (kept.pinned, kept.hidden, kept.colour) == (True, True, "teal")


def test_two_who_change_other_fields_lose_nothing() -> None:
    """Each change is made to what the file says then, whatever was on the screen."""
    first = run_notes.change(RunNote("/a"), "/a", "d1", title="one")
    run_notes.change(first, "/a", "d1", note="two")
    run_notes.change(first, "/a", "d1", pinned=True)
    kept = said_of("/a", "d1")
    assert (kept.title, kept.note, kept.pinned) == ("one", "two", True)


def test_a_moved_run_keeps_what_was_said_and_another_in_its_place_has_none_of_it() -> None:
    """A run is known again by how it begins, where it is not at its old path any more."""
    run_notes.change(RunNote("/old"), "/old", "d1", title="mine")
    assert said_of("/new", "d1").title == "mine"
    assert said_of("/copy", "d1", frozenset({"/old"})).title == ""
    assert said_of("/old", "d2").title == ""
    both = run_notes.of(run_notes.KEPT.read().values(), [("/old", "d2"), ("/new", "d1")], frozenset({"/old"}).__contains__)
    assert (both["/old"].title, both["/new"].title) == ("", "mine")
    assert said_of("/old", None).title == "mine"
    moved = said_of("/new", "d1")
    run_notes.change(moved, "/new", "d1", pinned=True)
    assert said_of("/new", "d1", frozenset({"/new"})).pinned
    run_notes.change(said_of("/old", "d2"), "/old", "d2", title="other")
    assert (said_of("/new", "d1").title, said_of("/old", "d2").title) == ("mine", "other")


def test_where_several_began_so_nobody_knows_which_it_is() -> None:
    """Two runs that are both gone: what was said of neither is shown."""
    run_notes.change(RunNote("/a"), "/a", "d1", title="a")
    run_notes.change(RunNote("/b"), "/b", "d1", title="b")
    assert said_of("/c", "d1").title == ""


def test_a_run_that_had_no_beginning_yet_keeps_what_was_said() -> None:
    """It was tagged before its first line was written."""
    run_notes.change(RunNote("/a"), "/a", "", tags=("new",))
    assert said_of("/a", "d1").tags == ("new",)


def test_a_note_of_which_nothing_is_left_is_forgotten() -> None:
    """Nothing of it stays."""
    note = run_notes.change(RunNote("/a"), "/a", "d1", pinned=True)
    run_notes.change(note, "/a", "d1", pinned=False)
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
    run_notes.change(RunNote("/a"), "/a", "d1", title="before")
    with pytest.raises(BoardError):
        run_notes.change(said_of("/a", "d1"), "/a", "d1", **REFUSED[name])
    assert said_of("/a", "d1").title == "before"
