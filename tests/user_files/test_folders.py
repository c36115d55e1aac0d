"""The reader's settings folder: a file in it is whole or not there."""

from pathlib import Path

import pytest

from board.errors import BoardError
from board.user_files import folders


def test_writes_whole_and_for_this_user(tmp_path: Path) -> None:
    """A file replaces another in one move, leaves nothing beside it, and a new folder is nobody else's."""
    path = tmp_path / "settings" / "a.json"

    folders.write(path, b"one")
    folders.write(path, b"two")

    assert path.read_bytes() == b"two"
    assert [*path.parent.iterdir()] == [path]
    assert path.parent.stat().st_mode & 0o077 == 0


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A settings folder that is a file, or a target that is a folder, is named, and nothing is left lying about."""
    (tmp_path / "file").write_text("")
    (tmp_path / "taken" / "x").mkdir(parents=True)

    with pytest.raises(BoardError, match=r"file/a\.json cannot be written: Not a directory"):
        folders.write(tmp_path / "file" / "a.json", b"")
    with pytest.raises(BoardError, match="taken cannot be written: Is a directory"):
        folders.write(tmp_path / "taken", b"")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]


def test_damaged_files_are_kept(tmp_path: Path) -> None:
    """Each file that is set aside keeps its content, also when one was set aside before."""
    path = tmp_path / "a.json"
    for content in ("first", "second"):
        path.write_text(content)
        folders.set_aside(path)

    assert not path.exists()
    assert sorted(one.read_text() for one in tmp_path.glob("a.json.damaged-*")) == ["first", "second"]
    with pytest.raises(BoardError, match="cannot be moved aside: No such file"):
        folders.set_aside(path)
