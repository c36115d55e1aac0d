"""A file's bytes, decompressed by its ending, in pieces and within bounds.

    with streams.opened(path, within=root) as stream:
        line = stream.readline(most + 1)       # most + 1 bytes: longer than `most`
        stream.position()                      # bytes of the file itself that have been read

A compressed file that `board.sources.bounds` calls dense ends in an OSError that says so: such a stream is no text of a model. Every byte
before damage or a cut comes out before the error does, which is one of ERRORS. To add a compression, list its ending in _DECOMPRESSED.
"""

import bz2
import errno
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, cast

import pyarrow as pa

from board.sources import run_files
from board.sources.bounds import RATIO, is_dense

ERRORS: Final = (EOFError, OSError, zlib.error, lzma.LZMAError, pa.ArrowException)
"""What reading a stream may raise; EOFError, or a text with "Truncated", where it is cut."""

_PIECE: Final = 1 << 16
"""Bytes decompressed at a time: so many at most are gone through one by one where a stream of zstd is cut."""

_WINDOW: Final = 256 << 20
"""Memory that a stream of xz may ask for; it could name gigabytes."""


class Stream(io.BufferedReader):
    """The bytes of a file, and how far it is in the file itself."""

    def __init__(self, raw: io.RawIOBase, position: Callable[[], int]) -> None:
        super().__init__(raw, _PIECE)
        self.position = position

    def is_still(self, size: int, changed: int, inode: int) -> bool:
        """Whether the opened file is the one that was seen, of this size, time in ns and inode, or that one and more.

        True where there is no telling: of what another machine has, or where the inode is 0.
        """
        try:
            now = os.fstat(self.fileno())
        except io.UnsupportedOperation:
            return True
        grown = now.st_size > size and now.st_ino == inode
        return not inode or grown or (now.st_size, now.st_mtime_ns) == (size, changed)


def opened(path: Path, *, within: Path | None = None, most: int | None = None) -> Stream:
    """The file's bytes, decompressed if its name says so, to be read and closed by the caller. Raises OSError as `run_files.opened`."""
    file = run_files.opened(path, within=within, most=most)
    try:
        decompressed = _DECOMPRESSED.get(path.suffix)
        if decompressed is not None:
            return Stream(_Bounded(decompressed(file), file), file.tell)
    except BaseException:
        file.close()
        raise
    plain = file.detach()
    return Stream(plain, plain.tell)


def is_compressed(path: Path) -> bool:
    """Whether the end of the name says so."""
    return path.suffix in _DECOMPRESSED


class _Source(Protocol):
    """What gives decompressed bytes as they come."""

    def read1(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end alone."""


class _Bounded(io.RawIOBase):
    """What a source gives, as long as it is not RATIO times what has been read of its file."""

    def __init__(self, source: _Source, file: BinaryIO) -> None:
        self._source, self._file = source, file
        self._given = 0

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer or a part of it; 0 at the end."""
        if is_dense(self._file.tell(), self._given):
            reason = f"decompressed it is more than {RATIO} times as long; decompress it by hand if that is meant"
            raise OSError(errno.EFBIG, reason)
        data = self._source.read1(len(buffer))
        buffer[: len(data)] = data
        self._given += len(data)
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


class _Zstd:
    """A zstd file decompressed; every byte before a cut comes out before the error does.

    Arrow's own stream throws away what one read has gathered when it meets the cut. So at an error the file is read again from its
    beginning, skipped to what was given out so far, and read byte by byte from there.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._given = 0
        self._careful = False
        self._begin()

    def _begin(self) -> None:
        self._file.seek(0)
        self._stream = pa.CompressedInputStream(pa.PythonFile(_Unclosed(self._file), mode="r"), "zstd")

    def read1(self, size: int, /) -> bytes:
        """At most `size` bytes, one of them while careful; none at the end alone."""
        try:
            data: bytes = self._stream.read(1 if self._careful else size)
        except OSError:
            if self._careful:
                raise
            self._begin_carefully()
            return self.read1(size)
        self._given += len(data)
        return data

    def _begin_carefully(self) -> None:
        self._begin()
        self._careful = True
        left = self._given
        while left:
            left -= len(self._stream.read(min(left, _PIECE)))


class _Unclosed:
    """A file that Arrow may read, and closes in vain when it forgets the stream."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.read = file.read

    def close(self) -> None:
        """Nothing: the code that opened the file closes it."""


class _Decompressor(Protocol):
    """What bz2 and lzma call one."""

    eof: bool
    needs_input: bool

    @property
    def unused_data(self) -> bytes:
        """What follows the stream's end."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most so many bytes, the rest next time."""


class _Streams:
    """One compressed stream after another, as bz2 and xz write them; zeros behind an end are xz's padding."""

    def __init__(self, file: BinaryIO, begin: Callable[[], Any]) -> None:
        self._file, self._begin = file, begin
        self._left = file.read(_PIECE)
        self._current: _Decompressor | None = begin() if self._left else None

    def read1(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end alone. Raises EOFError where a stream is cut."""
        data = b""
        while not data and self._current is not None:
            data = self._current.decompress(self._fed(), size)
            if self._current.eof:
                self._left = self._current.unused_data.lstrip(b"\0") or self._file.read(_PIECE).lstrip(b"\0")
                self._current = cast(_Decompressor, self._begin()) if self._left else None
        return data

    def _fed(self) -> bytes:
        """What the decompressor is to be given: nothing while it has enough."""
        assert self._current is not None
        fed, self._left = self._left or (self._file.read(_PIECE) if self._current.needs_input else b""), b""
        if self._current.needs_input and not fed:
            raise EOFError("the stream ends before its end was marked")
        return fed


def _gzip(file: BinaryIO) -> _Source:
    return cast(_Source, gzip.GzipFile(fileobj=file, mode="rb"))


def _xz(file: BinaryIO) -> _Source:
    return _Streams(file, lambda: lzma.LZMADecompressor(memlimit=_WINDOW))


_DECOMPRESSED: Final[Mapping[str, Callable[[BinaryIO], _Source]]] = {
    ".gz": _gzip,
    ".zst": _Zstd,
    ".bz2": lambda file: _Streams(file, bz2.BZ2Decompressor),
    ".xz": _xz,
}
