"""The logins that are open: a file each in the user's state, named by a digest of what the login's cookie says.

A cookie alone proves that this server signed it once; that it was given out whole, not long ago, and was not given back is kept here, for
all processes that serve one address. Knows neither cookies nor requests.
"""

import os
import stat
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from board.user_files import private_folders, user_folders

MOST_HOURS: Final = 720.0
"""No login is open longer: Streamlit's cookie ends after thirty days."""

MOST: Final = 10_000
"""So many are open at once: whoever may log in can fill no disk. Beyond that the oldest ends."""

_FOLDER: Final = "logins"


class OpenLogins:
    """Those of this user's boards."""

    def __init__(self, hours: float) -> None:
        self._seconds = hours * 3600.0

    def begin(self, said: bytes) -> None:
        """From now on the cookie that says this is good. Raises OSError."""
        folder = _folder()
        private_folders.made(folder, user_folders.state())
        self._forget_old(folder)
        path = _path(said)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.utime(descriptor)
        finally:
            os.close(descriptor)

    def is_open(self, said: bytes) -> bool:
        """Whether it began here, less than the hours ago, and did not end."""
        try:
            found = _path(said).lstat()
        except OSError:
            return False
        return stat.S_ISREG(found.st_mode) and 0 <= time.time() - found.st_mtime + 1.0 < self._seconds

    def end(self, said: bytes) -> None:
        """From now on the cookie that says this is good for nothing. Raises OSError where that cannot be kept."""
        _path(said).unlink(missing_ok=True)

    def _forget_old(self, folder: Path) -> None:
        found = sorted((entry.stat(follow_symlinks=False).st_mtime, entry.path) for entry in os.scandir(folder))
        too_many = max(len(found) - MOST + 1, 0)
        for at, (began, path) in enumerate(found):
            if at < too_many or time.time() - began > MOST_HOURS * 3600.0:
                with suppress(OSError):
                    Path(path).unlink()


def _folder() -> Path:
    return user_folders.state() / _FOLDER


def _path(said: bytes) -> Path:
    return _folder() / sha256(b"login\0" + said).hexdigest()
