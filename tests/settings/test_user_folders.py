"""Where settings, cache and state are on Linux, who may look into them, and folders that go with their process."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from board.push.places import state_of
from board.runs.cache.store import Store
from board.settings import saved, user_folders

FOLDERS = {
    "settings": (user_folders.settings, "RL_BOARD_SETTINGS", "XDG_CONFIG_HOME", ".config"),
    "cache": (user_folders.cache, "RL_BOARD_CACHE", "XDG_CACHE_HOME", ".cache"),
    "state": (user_folders.state, "RL_BOARD_STATE", "XDG_STATE_HOME", ".local/state"),
}

SET = {
    "nothing set": (None, None, "home/{usual}/rl-logging-board"),
    "the user's folder of that kind": (None, "xdg", "xdg/rl-logging-board"),
    "the board's own": ("mine", "xdg", "mine"),
    "set to nothing": ("", "", "home/{usual}/rl-logging-board"),
}


@pytest.mark.parametrize(("ours", "xdg", "wanted"), SET.values(), ids=SET.keys())
@pytest.mark.parametrize(("folder", "own", "usual_variable", "usual"), FOLDERS.values(), ids=FOLDERS.keys())
def test_folder(
    folder: Callable[[], Path],
    own: str,
    usual_variable: str,
    usual: str,
    ours: str | None,
    xdg: str | None,
    wanted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The board's own variable, else the user's folder for such files; asking for it makes nothing."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable, value in ((own, ours), (usual_variable, xdg)):
        monkeypatch.delenv(variable, raising=False)
        if value is not None:
            monkeypatch.setenv(variable, value and str(tmp_path / value))

    assert folder() == tmp_path / wanted.format(usual=usual)
    assert [*tmp_path.iterdir()] == []


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

    user_folders.make_private(folder, root)
    user_folders.make_private(folder, root)

    assert modes(folder, root) == [0, 0]
    assert root.stat().st_mode & 0o777 == (0o755 if before else 0o700)


def test_every_folder_that_names_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache, settings and what was pushed: none tells another user of this machine the name of a run."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.setenv("RL_BOARD_STATE", str(tmp_path / "state"))
    run = Store(tmp_path / "secret_name")
    run.open()
    saved.toggle_pin("reward")
    with state_of({"run": "secret_name"}, again=False) as state:
        state.save()

    assert modes(run.folder, user_folders.cache().parent) == [0, 0, 0]
    assert modes(user_folders.state() / "push", user_folders.state().parent) == [0, 0]
    assert modes(saved.PINS.path.parent, tmp_path) == [0]


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
        user_folders.make_private(tmp_path / "root" / "a" / "b", tmp_path / "root")

    assert taken.stat().st_mode & 0o777 == 0o755
    assert not list(taken.iterdir())


REPOSITORY = Path(__file__).parents[2]

HOLD = """
import sys
from pathlib import Path
from board.settings import user_folders
with user_folders.temporary(Path(sys.argv[1]), Path(sys.argv[1]), "kind") as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_a_folder_goes_when_its_process_has(tmp_path: Path) -> None:
    """That of a process that is there stays, that of a killed one is removed, and one's own is for this user alone."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        other = Path(process.stdout.readline().strip())
        with user_folders.temporary(tmp_path, tmp_path, "kind") as folder:
            assert (folder.parent, folder.stat().st_mode & 0o077, other.is_dir()) == (tmp_path, 0, True)
        assert not folder.exists()
        process.kill()
    with user_folders.temporary(tmp_path, tmp_path, "kind") as folder:
        assert [path for path in tmp_path.iterdir() if path.is_dir()] == [folder]

    assert [*tmp_path.iterdir()] == []
