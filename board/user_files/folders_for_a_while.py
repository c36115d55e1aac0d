"""Folders of a process that go when it is done with them, and, where it was killed, when the next comes by. Knows nothing of what is in them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from board.user_files import private_folders


@contextmanager
def made(above: Path, root: Path, kind: str) -> Iterator[Path]:
    """A folder below `above`, which lies under `root`, for this user alone; its name begins with `kind`. Raises OSError."""
    from filelock import FileLock, Timeout  # here alone: who needs no such folder starts sooner without it

    for left in above.glob(f"{kind}-*.lock"):
        with suppress(Timeout), FileLock(left, blocking=False):  # a process that is there holds its lock
            _remove(left)
    lock = above / f"{kind}-{uuid4().hex}.lock"
    private_folders.made(above, root)
    with FileLock(lock):
        private_folders.made(lock.with_suffix(""), root)
        try:
            yield lock.with_suffix("")
        finally:
            _remove(lock)


def _remove(lock: Path) -> None:
    shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
    lock.unlink(missing_ok=True)
