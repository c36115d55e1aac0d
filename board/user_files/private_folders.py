"""Folders that hold names of runs, or more of them: for this user alone. Knows nothing of what is in them."""

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_OTHERS: Final = 0o077


def made(folder: Path, root: Path) -> None:
    """Make a folder under `root`, and `root`, where they are not there; nobody else may look into what lies in it.

    A `root` that was there before keeps its mode, as it may be anybody's. Raises OSError, of a folder below it that another user made too:
    what lies there may be anything, and its owner reads what is put there.
    """
    for path in reversed([folder, *(above for above in folder.parents if above.is_relative_to(root))]):
        _make(path.parent, parents=True)
        _make(path, mode=0o700)
        if path != root:
            _check_owner(path)
            close(path)


def _make(folder: Path, mode: int = 0o777, parents: bool = False) -> None:
    try:
        folder.mkdir(mode, parents, exist_ok=True)
    except FileExistsError:  # which says nothing of what is wrong
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None


def are_others(folder: Path, root: Path) -> bool:
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


def close(folder: Path) -> None:
    """Close a folder of ours to others; one that is not ours stays as it is."""
    mode = folder.stat().st_mode
    if mode & _OTHERS:
        with suppress(PermissionError):
            folder.chmod(mode & ~_OTHERS)
