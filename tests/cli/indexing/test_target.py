"""Tests of what may become an index of what: nothing is written where it may not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from indexed import indexed
from rows import row, write_run

from board.cli.indexing import target
from board.errors import ArgumentRefused, BoardError, RunNotFound


def _other_files(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "run", write_run(tmp_path / "full", {"notes.jsonl": [row()]})


def _file(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "file").write_text("")
    return tmp_path / "run", tmp_path / "file"


def _of_an_index(tmp_path: Path) -> tuple[Path, Path]:
    indexed(tmp_path / "run", tmp_path / "index")
    return tmp_path / "index", tmp_path / "second"


def _of_another_run(tmp_path: Path) -> tuple[Path, Path]:
    indexed(tmp_path / "run", tmp_path / "index")
    return write_run(tmp_path / "other", {"rank_0.jsonl": [row()]}), tmp_path / "index"


REFUSED: dict[str, tuple[Callable[[Path], tuple[Path, Path]], type[BoardError], str]] = {
    "within the run": (lambda tmp: (tmp / "run", tmp / "run" / "index"), ArgumentRefused, "within the run"),
    "around the run": (lambda tmp: (tmp / "run", tmp), ArgumentRefused, "within the run"),
    "other files": (_other_files, ArgumentRefused, "holds other files"),
    "a file": (_file, ArgumentRefused, "is a file"),
    "an index of an index": (_of_an_index, ArgumentRefused, "is an index itself"),
    "another run's index": (_of_another_run, ArgumentRefused, "is the index of"),
    "no run": (lambda tmp: (tmp / "nowhere", tmp / "index"), RunNotFound, "No folder"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    """A sentence says why, and nothing has changed."""
    write_run(tmp_path / "run", {"rank_0.jsonl": [row()]})
    places, error, said = REFUSED[name]
    location, folder = places(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(error, match=said), target.opened(location, folder):
        pass

    assert sorted(tmp_path.rglob("*")) == before


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    """A second `index` on the same folder is told so at once."""
    write_run(tmp_path / "run", {"rank_0.jsonl": [row()]})
    with (
        target.opened(tmp_path / "run", tmp_path / "index"),
        pytest.raises(ArgumentRefused, match="Another `index` is writing"),
        target.opened(tmp_path / "run", tmp_path / "index"),
    ):
        pass


def test_another_reading_has_a_folder_of_its_own(tmp_path: Path) -> None:
    """What counts as padding is decided while parsing."""
    write_run(tmp_path / "run", {"rank_0.jsonl": [row()]})
    indexed(tmp_path / "run", tmp_path / "index")
    with pytest.raises(ArgumentRefused, match="other pads, tokenizer or mapping"):
        indexed(tmp_path / "run", tmp_path / "index", extra_pads=["x"])
