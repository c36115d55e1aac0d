"""An object of a store as a file that is read: a range of it is fetched when it is, further ahead the longer it is read in order."""

import io
from typing import Any, Final

from board.remote.mirror import BLOCK, Mirror
from board.remote.object_store import RemoteObject

_MOST_AHEAD: Final = 8 << 20
"""Bytes fetched ahead of somebody who reads in order."""


class MirroredFile(io.RawIOBase):
    """One thread at a time. Without a descriptor: nothing of it lies on this machine."""

    def __init__(self, mirror: Mirror, found: RemoteObject) -> None:
        self._mirror, self._found = mirror, found
        self._at, self._ended_at, self._ahead = 0, 0, BLOCK

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def seekable(self) -> bool:
        """Any byte is as near as any other."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a byte, counted from the start, from here or from the end."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._found.size}[whence])
        return self._at

    def tell(self) -> int:
        """Which byte is next."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer or a part of it; 0 at the end. Raises OSError."""
        start, stop = self._at, min(self._at + len(buffer), self._found.size)
        if start >= stop:
            return 0
        if self._mirror.lacks(self._found, start, stop):
            self._ahead = min(_MOST_AHEAD, self._ahead * 2) if start == self._ended_at else BLOCK
            self._mirror.ask(self._found, start, max(stop, start + self._ahead))
        self._at = self._ended_at = stop
        data = self._mirror.read(self._found, start, stop)
        buffer[: len(data)] = data
        return len(data)
