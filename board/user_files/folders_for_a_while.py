"""Folders of a process that go when it is done with them, and, where it was killed, when the next comes by. Knows nothing of what is in them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from board.system import running
from board.user_files import private_folders


@contextmanager
def made(above: Path, root: Path, kind: str) -> Iterator[Path]:
    """A folder below `above`, which lies under `root`, for this user alone; its name begins with `kind`. Raises OSError."""
    _remove_left_behind(above, kind)
    folder = above / f"{kind}-{running.machine()}-{os.getpid()}-{uuid4().hex}"
    private_folders.made(folder, root)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left_behind(above: Path, kind: str) -> None:
    """What processes of this machine left that are gone; those of others may be there."""
    start = f"{kind}-{running.machine()}-"
    for folder in above.glob(f"{kind}-*"):
        number = folder.name.removeprefix(start).partition("-")[0]
        if folder.name.startswith(start) and number.isdecimal() and not running.is_running(int(number)):
            shutil.rmtree(folder, ignore_errors=True)
