"""Tests of the pads that readers name for a run."""

from pathlib import Path

import pytest

from board.cli.options import name_pads
from board.errors import BoardError
from board.user_files import run_pads


def test_pads_are_kept_for_their_run_alone(tmp_path: Path) -> None:
    """Whatever the path says of the folder; none of them forgets it."""
    (tmp_path / "a").mkdir()
    run_pads.save(tmp_path / "a", ("<|extra_0|>", "7"))

    assert run_pads.read(tmp_path / "b" / ".." / "a") == ("7", "<|extra_0|>")
    assert run_pads.read(tmp_path / "b") == ()
    run_pads.save(tmp_path / "a", ())
    assert run_pads.read(tmp_path / "a") == ()


def test_pads_for_all_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RL_BOARD_PADS names some, with spaces between; `--pad` of a server adds some, which may have spaces in them."""
    monkeypatch.setenv(run_pads.VARIABLE, "<x> <y>")
    run_pads.save(tmp_path, ("<z>",))

    assert run_pads.read(tmp_path) == ("<x>", "<y>", "<z>")
    name_pads(["[MY PAD]"])
    assert run_pads.read(tmp_path) == ("<x>", "<y>", "<z>", "[MY PAD]")
    assert run_pads.own(tmp_path) == ("<z>",)


@pytest.mark.parametrize("damage", ["null", "[]", "1", "[1]", '[" "]'])
def test_damage_is_said(tmp_path: Path, damage: str) -> None:
    """What holds no pads is named, and no run is read without those that somebody set."""
    run_pads.save(tmp_path, ("<x>",))
    run_pads.KEPT.path.write_text(f'{{"a": {damage}, "b": {{}}}}')

    with pytest.raises(BoardError, match="no list of pads"):
        run_pads.read(tmp_path)
