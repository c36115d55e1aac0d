"""Tests of how files of a run are looked at: many at once are told of as each by itself."""

import os
from pathlib import Path

import pytest

from board.sources import run_files


def test_a_file_beside_others(tmp_path: Path) -> None:
    """Is told of as by itself: a plain one, a link within and out of the root, a pipe, and one that is not there."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "plain").write_bytes(b"12")
    (tmp_path / "secret").write_bytes(b"123")
    (root / "within").symlink_to("plain")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "round").symlink_to("round")
    os.mkfifo(root / "pipe")
    for name in ("plain", "within"):
        assert run_files.check_beside(root / name, root) == run_files.check(root / name, within=root)
    for name in ("out", "round", "pipe", "none"):
        said = []
        for look in (run_files.check_beside, run_files.check):
            with pytest.raises(OSError, match=r".") as refused:
                look(root / name, within=root)
            said.append((type(refused.value), refused.value.errno, refused.value.strerror))
        assert said[0] == said[1]
    (tmp_path / "elsewhere").symlink_to(root)
    assert run_files.is_within(tmp_path / "elsewhere", root)
    assert not run_files.is_within(tmp_path, root)
