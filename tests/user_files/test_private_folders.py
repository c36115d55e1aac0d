"""Tests of folders for this user alone."""

import os
from pathlib import Path

import pytest

from board.push.state import state_of
from board.runs.store import Store
from board.user_files import pins, private_folders, user_folders


def modes(folder: Path, root: Path) -> list[int]:
    """What others may do with each folder from `folder` up to below `root`."""
    return [place.stat().st_mode & 0o077 for place in (folder, *folder.parents) if place != root and place.is_relative_to(root)]


@pytest.mark.parametrize("before", [None, "root", "root/a", "root/a/b"])
def test_nobody_else_looks_in(tmp_path: Path, before: str | None) -> None:
    """A folder, and all that is made above it, is closed to others, those that were open before included; the root that was there is left."""
    if before:
        (tmp_path / before).mkdir(parents=True)
    root, folder = tmp_path / "root", tmp_path / "root" / "a" / "b"
    for path in (root, root / "a", folder):
        if path.exists():
            path.chmod(0o755)

    private_folders.made(folder, root)
    private_folders.made(folder, root)

    assert modes(folder, root) == [0, 0]
    assert root.stat().st_mode & 0o777 == (0o755 if before else 0o700)


def test_every_folder_that_names_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache, settings and what was pushed: none tells another user of this machine the name of a run."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.setenv("RL_BOARD_STATE", str(tmp_path / "state"))
    run = Store(tmp_path / "secret_name")
    run.open()
    pins.toggle("reward")
    with state_of({"run": "secret_name"}, again=False) as state:
        state.save()

    assert modes(run.folder, user_folders.cache().parent) == [0, 0, 0]
    assert modes(user_folders.state() / "push", user_folders.state().parent) == [0, 0]
    assert modes(pins.KEPT.path.parent, tmp_path) == [0]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root makes folders of others")
@pytest.mark.parametrize("other", ["a", "a/b"])
@pytest.mark.parametrize("linked", [False, True])
def test_folder_of_another_user_is_refused(tmp_path: Path, other: str, linked: bool) -> None:
    """What another user made below a root that all may write is neither trusted nor written to, a link to a folder of ours neither."""
    taken = tmp_path / "root" / other
    taken.parent.mkdir(parents=True)
    if linked:
        (tmp_path / "ours").mkdir(mode=0o755)
        taken.symlink_to(tmp_path / "ours")
    else:
        taken.mkdir(mode=0o755)
    os.chown(taken, 12_345, -1, follow_symlinks=False)

    with pytest.raises(PermissionError, match="belongs to another user"):
        private_folders.made(tmp_path / "root" / "a" / "b", tmp_path / "root")

    assert taken.stat().st_mode & 0o777 == 0o755
    assert not list(taken.iterdir())
