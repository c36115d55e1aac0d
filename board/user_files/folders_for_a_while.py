"""Folders of a process that go when it is done with them, and, where it was killed, when the next comes by. Knows nothing of what is in them."""

import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

from board.user_files import private_folders


@cache
def machine() -> str:
    """Another text on another machine, after a restart, and in a container, whose processes have numbers of their own."""
    told = [platform.node()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            told.append(str(Path(path).readlink()) if path.endswith("pid") else Path(path).read_text())
        except OSError:
            told.append("")
    return blake2b(repr(told).encode(), digest_size=6).hexdigest()


def is_running(process: int) -> bool:
    """Whether a process of this machine with that number runs; perhaps another than the one that is meant."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


@contextmanager
def made(above: Path, root: Path, kind: str) -> Iterator[Path]:
    """A folder below `above`, which lies under `root`, for this user alone; its name begins with `kind`. Raises OSError."""
    _remove_left_behind(above, kind)
    folder = above / f"{kind}-{machine()}-{os.getpid()}-{uuid4().hex}"
    private_folders.made(folder, root)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left_behind(above: Path, kind: str) -> None:
    """What processes of this machine left that are gone; those of others may be there."""
    start = f"{kind}-{machine()}-"
    for folder in above.glob(f"{kind}-*"):
        number = folder.name.removeprefix(start).partition("-")[0]
        if folder.name.startswith(start) and number.isdecimal() and not is_running(int(number)):
            shutil.rmtree(folder, ignore_errors=True)
