"""Whose turn it is to parse a run into its cache: of several processes one, while the others wait and take what it has written.

A lock on a file in the cache's folder, which ends with its process. Where there are no such locks (another system, a file system without them,
a file that is not ours to open) everybody takes himself for the only one, as does who has waited for one that does not go on. Knows nothing
of what is parsed.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_lock: Callable[[int, int], None] | None
try:
    from fcntl import LOCK_EX, LOCK_NB
    from fcntl import flock as _lock
except ImportError:  # Windows
    _lock = None

FILE: Final = "loading.lock"

STALLED_SECONDS: Final = 30.0
"""Whoever has said nothing for so long, by a process that was stopped or a machine that fell, is not waited for any longer."""

_LOOK_SECONDS: Final = 0.1
_BEAT_SECONDS: Final = 1.0


class LoadingTurn:
    """The turn of one load, whose parts go into `folder`. Of no other thread's concern."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._held: int | None = None
        self._beaten_at = 0.0

    @contextmanager
    def taken(self, meanwhile: Callable[[], None]) -> Iterator[None]:
        """Within it nobody else who asks has the turn. While another has it, `meanwhile` is called again and again; it may raise."""
        descriptor = self._opened()
        try:
            while descriptor is not None and not self._has_come(descriptor, meanwhile):
                os.close(descriptor)
                descriptor = self._opened()
            self._held = descriptor
            yield
        finally:
            self._held = None
            if descriptor is not None:
                os.close(descriptor)

    def go_on(self) -> None:
        """Show those who wait that this load goes on; to be called often."""
        now = time.monotonic()
        if self._held is not None and now - self._beaten_at > _BEAT_SECONDS:
            self._beaten_at = now
            with suppress(OSError):
                os.utime(self._held)

    def _opened(self) -> int | None:
        """The lock's file; None where it cannot be had."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        if _lock is None:
            return None
        try:
            descriptor = os.open(self._path, flags, 0o600)
        except OSError:
            return None
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        return None

    def _has_come(self, descriptor: int, meanwhile: Callable[[], None]) -> bool:
        """Wait until this one holds the lock, or need not; False where the file is no longer the one that others would lock."""
        assert _lock is not None
        seen, since = -1, time.monotonic()
        while True:
            try:
                _lock(descriptor, LOCK_EX | LOCK_NB)
                return self._is_there(descriptor)
            except BlockingIOError:
                beat = os.fstat(descriptor).st_mtime_ns
            except OSError:  # no locks here
                return True
            if beat != seen:
                seen, since = beat, time.monotonic()
            if time.monotonic() - since > STALLED_SECONDS:
                return True
            meanwhile()
            time.sleep(_LOOK_SECONDS)

    def _is_there(self, descriptor: int) -> bool:
        """Whether the file still stands where it was opened: the cache may be deleted at any time. True where nobody can tell."""
        ours = os.fstat(descriptor)
        try:
            there = self._path.lstat()
        except FileNotFoundError:
            return not self._path.parent.is_dir()
        except OSError:
            return True
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
