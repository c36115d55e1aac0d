"""A mirrored object as a file that is read: what is not there yet is fetched first, further ahead the longer it is read in order.

Knows blocks; knows neither the store nor what the bytes mean.
"""

import io
from collections.abc import Callable
from typing import Any, Final

from board.remote.mirrored_object import BLOCK, MirroredObject
from board.remote.object_store import RemoteTrouble

_MOST_AHEAD: Final = 8 << 20
"""Bytes fetched ahead of somebody who reads in order."""

Bring = Callable[[MirroredObject, int, int], None]
"""Fetches what is missing of an object between two bytes."""


class MirroredFile(io.RawIOBase):
    """Takes the object over and closes it. One thread at a time. Without a descriptor: holes in the file are bytes that are not there yet."""

    def __init__(self, found: MirroredObject, bring: Bring) -> None:
        self._object, self._bring = found, bring
        self.size = found.found.size
        """Bytes of the object."""
        self._at = 0
        self._ended_at, self._ahead = 0, BLOCK

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def seekable(self) -> bool:
        """Any byte is as near as any other."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a byte, counted from the start, from here or from the end."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence])
        return self._at

    def tell(self) -> int:
        """Which byte is next."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer or a part of it; 0 at the end. Raises OSError."""
        data = self.pread(len(buffer), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def pread(self, count: int, at: int) -> bytes:
        """So many bytes from there on, fewer at the end alone; where the file stands does not change. Raises OSError."""
        stop = min(at + count, self.size)
        if at >= stop:
            return b""
        self._ahead = min(_MOST_AHEAD, self._ahead * 2) if at == self._ended_at else BLOCK
        self._ended_at = stop
        if next(self._object.missing(at, stop), None) is not None:
            self._bring(self._object, at, max(stop, min(self.size, at + self._ahead)))
        first = at // BLOCK
        data = b"".join(map(self._block, range(first, -(-stop // BLOCK))))
        return data[at - first * BLOCK : stop - first * BLOCK]

    def _block(self, block: int) -> bytes:
        data = self._object.block(block)
        if data is None:  # what the disk gave back is not what was written to it
            self._bring(self._object, block * BLOCK, (block + 1) * BLOCK)
            data = self._object.block(block)
        if data is None:
            raise RemoteTrouble("what was fetched of it cannot be read back from the cache's disk")
        return data

    def close(self) -> None:
        """Let go of the object."""
        if not self.closed:
            self._object.close()
        super().close()
