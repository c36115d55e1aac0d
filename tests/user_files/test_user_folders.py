"""board.user_files.user_folders: where settings, cache and state are on Linux, and what says otherwise."""

from collections.abc import Callable
from pathlib import Path

import pytest

from board.user_files import user_folders

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
