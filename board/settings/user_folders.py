"""Where the board keeps what is the user's: settings, cache and state, each in the folder that this system has for such files.

Folders there are for this user alone, as they hold names of runs, or more of them; naming one does not make it.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

import platformdirs

_NAME: Final = "rl-logging-board"

_OTHERS: Final = 0o077
"""What a folder's mode lets others do."""


def settings() -> Path:
    """RL_BOARD_SETTINGS, else ours in the user's configuration folder: on Linux `$XDG_CONFIG_HOME` or `~/.config`."""
    return _given("RL_BOARD_SETTINGS") or platformdirs.user_config_path(_NAME, appauthor=False)


def cache() -> Path:
    """RL_BOARD_CACHE, else ours in the user's cache folder: on Linux `$XDG_CACHE_HOME` or `~/.cache`."""
    return _given("RL_BOARD_CACHE") or platformdirs.user_cache_path(_NAME, appauthor=False)


def state() -> Path:
    """RL_BOARD_STATE, else ours in the user's state folder: on Linux `$XDG_STATE_HOME` or `~/.local/state`."""
    return _given("RL_BOARD_STATE") or platformdirs.user_state_path(_NAME, appauthor=False)


def _given(variable: str) -> Path | None:
    """What the variable names; None where it is not set, or set to nothing."""
    given = os.environ.get(variable)
    return Path(given) if given else None


def make_private(folder: Path, root: Path) -> None:
    """Make a folder under `root`, and `root`, where they are not there; no other user may look into what lies in it.

    A `root` that was there before keeps its mode, as it may be anybody's. Raises OSError, of a folder below it that another user made too:
    what lies there may be anything, and its owner reads what is put there.
    """
    for path in reversed([folder, *(above for above in folder.parents if above.is_relative_to(root))]):
        _make(path.parent, parents=True)
        _make(path, mode=0o700)
        if path != root:
            _check_owner(path)
            close_to_others(path)


def _make(folder: Path, mode: int = 0o777, parents: bool = False) -> None:
    try:
        folder.mkdir(mode, parents, exist_ok=True)
    except FileExistsError:  # which says nothing of what is wrong
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None


def is_of_others(folder: Path, root: Path) -> bool:
    """Whether `folder`, or one above it and under `root`, was made by another user, who may have put there what he likes."""
    try:
        for path in (folder, *folder.parents):
            if path != root and path.is_relative_to(root):
                _check_owner(path)
    except PermissionError:
        return True
    except OSError:  # it is not there
        return False
    return False


def _check_owner(folder: Path) -> None:
    """Raise PermissionError where a folder, or the link in its place, is another user's; root's are trusted as root is."""
    trusted = {0, os.geteuid()} if os.name != "nt" else {0}
    if not {folder.lstat().st_uid, folder.stat().st_uid} <= trusted:
        raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))


def close_to_others(folder: Path) -> None:
    """Close a folder of ours to others; one that is not ours stays as it is."""
    mode = folder.stat().st_mode
    if mode & _OTHERS:
        with suppress(PermissionError):
            folder.chmod(mode & ~_OTHERS)


@contextmanager
def temporary(above: Path, root: Path, kind: str) -> Iterator[Path]:
    """A private folder below `above`, which lies under `root`; its name begins with `kind`. Raises OSError.

    It goes at the end, and where its process was killed, when the next of its kind is made.
    """
    from filelock import FileLock, Timeout  # here alone: who needs no such folder starts sooner without it

    for left in above.glob(f"{kind}-*.lock"):
        with suppress(Timeout), FileLock(left, blocking=False):  # a process that is there holds its lock
            _remove(left)
    lock = above / f"{kind}-{uuid4().hex}.lock"
    make_private(above, root)
    with FileLock(lock):
        make_private(lock.with_suffix(""), root)
        try:
            yield lock.with_suffix("")
        finally:
            _remove(lock)


def _remove(lock: Path) -> None:
    shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
    lock.unlink(missing_ok=True)
