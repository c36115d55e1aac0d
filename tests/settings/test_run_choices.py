"""What a reader says of a run: kept whole, by the path of the run."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from board.cli.options import name_pads
from board.errors import BoardError
from board.settings import run_choices
from board.settings.run_choices import RunNote


def test_what_is_said_is_kept() -> None:
    """All of it, by the run's path, and one field after another, whatever was on the screen of who changes it."""
    run_choices.save_note("/a", title="  Seed   7 ", tags=("sweep",))
    run_choices.save_note("/b", title="other")
    run_choices.save_note("/a", note="# KL *rises*\n<b>", pinned=True, colour="teal")
    kept = run_choices.save_note("/a", hidden=True)
    assert kept == RunNote("/a", "Seed 7", ("sweep",), "# KL *rises*\n<b>", pinned=True, hidden=True, colour="teal")
    assert run_choices.notes() == {"/a": kept, "/b": RunNote("/b", "other")}


def test_notes_that_were_kept_by_how_a_run_begins() -> None:
    """They are read as those of their path, and stand under it once anything is said."""
    run_choices.save_note("/a", title="one")
    earlier = asdict(RunNote("/b", "two")) | {"first": "d1", "id": "1f"}
    run_choices.NOTES.path.write_text(json.dumps({"1f": earlier}))
    assert run_choices.notes() == {"/b": RunNote("/b", "two")}
    run_choices.save_note("/b", pinned=True)
    assert run_choices.NOTES.read() == {"/b": RunNote("/b", "two", pinned=True)}


def test_a_note_of_which_nothing_is_left_is_forgotten() -> None:
    """Nothing of it stays."""
    run_choices.save_note("/a", pinned=True)
    assert run_choices.save_note("/a", pinned=False) == RunNote("/a")
    assert run_choices.NOTES.read() == {}


REFUSED: dict[str, dict[str, Any]] = {
    "a name that is not to be seen": {"title": "a\x00b"},
    "a tag without end": {"tags": ("x" * 41,)},
    "tags without end": {"tags": tuple(map(str, range(21)))},
    "half a character": {"note": "\ud800"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_kept_is_refused_and_what_was_kept_stays(name: str) -> None:
    """In a sentence."""
    run_choices.save_note("/a", title="before")
    with pytest.raises(BoardError):
        run_choices.save_note("/a", **REFUSED[name])
    assert run_choices.notes()["/a"].title == "before"


def test_pads_are_kept_for_their_run_alone(tmp_path: Path) -> None:
    """Whatever the path says of the folder; none of them forgets it."""
    (tmp_path / "a").mkdir()
    run_choices.save_pads(tmp_path / "a", ("<|extra_0|>", "7"))

    assert run_choices.pads(tmp_path / "b" / ".." / "a") == ("7", "<|extra_0|>")
    assert run_choices.pads(tmp_path / "b") == ()
    run_choices.save_pads(tmp_path / "a", ())
    assert run_choices.pads(tmp_path / "a") == ()


def test_pads_for_all_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RL_BOARD_PADS names some, with spaces between; `--pad` of a server adds some, which may have spaces in them."""
    monkeypatch.setenv(run_choices.PADS_VARIABLE, "<x> <y>")
    run_choices.save_pads(tmp_path, ("<z>",))

    assert run_choices.pads(tmp_path) == ("<x>", "<y>", "<z>")
    name_pads(["[MY PAD]"])
    assert run_choices.pads(tmp_path) == ("<x>", "<y>", "<z>", "[MY PAD]")
    assert run_choices.own_pads(tmp_path) == ("<z>",)


@pytest.mark.parametrize("damage", ["null", "[]", "1", "[1]", '[" "]'])
def test_damaged_pads_are_told(tmp_path: Path, damage: str) -> None:
    """What holds no pads is named, and no run is read without those that somebody set."""
    run_choices.save_pads(tmp_path, ("<x>",))
    run_choices.PADS.path.write_text(f'{{"a": {damage}, "b": {{}}}}')

    with pytest.raises(BoardError, match="no list of pads"):
        run_choices.pads(tmp_path)


def test_right_rewards_are_kept_for_their_run_alone(tmp_path: Path) -> None:
    """Whatever the path says of the folder; None forgets it."""
    (tmp_path / "a").mkdir()
    run_choices.save_right_reward(tmp_path / "a", 0.45)

    assert run_choices.right_reward(tmp_path / "b" / ".." / "a") == 0.45
    assert math.isnan(run_choices.right_reward(tmp_path / "b"))
    run_choices.save_right_reward(tmp_path / "a", None)
    assert math.isnan(run_choices.right_reward(tmp_path / "a"))


@pytest.mark.parametrize("damage", ["null", "true", '"1"', "[]", "Infinity"])
def test_a_right_reward_that_is_no_number_is_told(tmp_path: Path, damage: str) -> None:
    """The file is named, and not written over."""
    run_choices.save_right_reward(tmp_path, 3)
    run_choices.RIGHT_REWARDS.path.write_text(f'{{"a": {damage}}}')

    with pytest.raises(BoardError, match="no reward from which on"):
        run_choices.right_reward(tmp_path)
    with pytest.raises(BoardError, match="no reward from which on"):
        run_choices.save_right_reward(tmp_path, 2)
