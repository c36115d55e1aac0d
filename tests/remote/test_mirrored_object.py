"""Tests of one mirrored object: what is there is told from what is not, and what was spoilt from what was written."""

from pathlib import Path

import pytest

from board.remote import mirrored_object
from board.remote.mirrored_object import BLOCK, MirroredObject
from board.remote.object_store import RemoteObject, Replaced

DATA = bytes(range(256)) * 600  # two whole blocks and a part of one


def begun(folder: Path) -> MirroredObject:
    """An object of which nothing was fetched yet."""
    path, sums = folder / "x", folder / "sums" / "x"
    with path.open("wb") as stream:
        stream.truncate(len(DATA))
    mirrored_object.begin(path, sums, RemoteObject("x", len(DATA), 5, "v1"))
    return MirroredObject(path, sums)


def test_what_is_there(tmp_path: Path) -> None:
    """A block is there once it was put, also for another who opens it; the last may be short."""
    with begun(tmp_path) as one:
        assert [*one.missing(0, len(DATA))] == [0, 1, 2]
        one.put(2, DATA[2 * BLOCK :])
        one.put(0, DATA[:BLOCK])
        with MirroredObject(one.path, tmp_path / "sums" / "x") as other:
            assert other.present() == [0, 2]
            assert other.block(0) == DATA[:BLOCK]
            assert other.block(1) is None
            assert [*other.missing(10, BLOCK)] == []
            assert [*other.whole_sums()] == [0]


def test_damage_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    """A byte that turned, and a hole where the machine fell, are not believed."""
    with begun(tmp_path) as one:
        one.put(0, DATA[:BLOCK])
        with one.path.open("r+b") as stream:
            stream.seek(100)
            stream.write(b"!")
        assert one.block(0) is None
        assert [*one.missing(0, 1)] == [0]


def test_blocks_of_another_length_are_refused(tmp_path: Path) -> None:
    """Fewer bytes than the version has are of another version."""
    with begun(tmp_path) as one, pytest.raises(Replaced):
        one.put(0, DATA[:100])


@pytest.mark.parametrize(
    "spoilt",
    [b"", b"{", b'{"object": {}}', b'{"object": {"key": "x", "size": 999999, "modified_ns": 1, "version": ""}, "inode": 1}'],
)
def test_spoilt_sums_are_none(tmp_path: Path, spoilt: bytes) -> None:
    """A file of sums that is not what was written is taken away: everything is fetched again."""
    begun(tmp_path).close()
    (tmp_path / "sums" / "x").write_bytes(spoilt)
    with pytest.raises(FileNotFoundError):
        MirroredObject(tmp_path / "x", tmp_path / "sums" / "x")
    assert not (tmp_path / "sums" / "x").exists()


def test_a_new_file_has_none_of_the_old_sums(tmp_path: Path) -> None:
    """Sums are of the very file they were made for, not of one that took its name."""
    begun(tmp_path).close()
    (tmp_path / "y").write_bytes(DATA)
    (tmp_path / "y").replace(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        MirroredObject(tmp_path / "x", tmp_path / "sums" / "x")
