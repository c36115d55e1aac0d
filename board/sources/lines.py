"""Where lines end in the bytes of a stream, within bounds of memory and time."""

import errno
import io
import os
import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from board.errors import ArgumentRefused

LONGEST: Final = 256_000_000
"""Bytes of a line, unless RL_BOARD_LONGEST_LINE says otherwise: reading one takes a few times as much memory."""

MEMBER_LINES: Final = 1 << 40
"""More than any file has lines."""

SEARCHED: Final = 4 << 30
"""So many bytes of a line that is too long are looked through for its end."""

BLOCK: Final = 1 << 16
"""Bytes looked through at a time: so few that the same memory serves again and again."""

_COUNTED: Final = 1 << 21
"""Bytes that are searched for all their line ends at a time: so many that a thread which does it seldom waits for its turn."""

_PIECE: Final = 1 << 20
"""A line of less is read at once."""


def longest_line() -> int:
    """Bytes that a line may have without its end. Raises ArgumentRefused for a setting that is no such number."""
    given = os.environ.get("RL_BOARD_LONGEST_LINE") or str(LONGEST)
    if not re.fullmatch(r"[1-9][0-9]{0,17}", given):
        raise ArgumentRefused(f"RL_BOARD_LONGEST_LINE is {given!r}; it takes a number of bytes, such as {LONGEST}.")
    return int(given)


def read(stream: BinaryIO, most: int) -> bytes | bytearray:
    """The next line with its end, or the first `most` bytes of it; a long one is put together without a second copy of it."""
    line: bytes | bytearray = stream.readline(min(_PIECE, most))
    if len(line) < _PIECE or line.endswith(b"\n"):
        return line
    line = bytearray(line)
    while len(line) < most and (piece := stream.readline(min(_PIECE, most - len(line)))):
        line += piece
        if piece.endswith(b"\n"):
            break
    return line


def skip(stream: BinaryIO, most: int) -> tuple[int, bool]:
    """Go on to the end of a line, or for `most` bytes: how many were passed, and whether they end with the line."""
    passed, ended = 0, False
    while not ended and passed < most and (piece := stream.readline(min(BLOCK, most - passed))):
        passed, ended = passed + len(piece), piece.endswith(b"\n")
    return passed, ended


def next_end(file: BinaryIO, start: int, stop: int) -> int:
    """Where the line that byte `start` of a plain file is in ends; 0 when it does not before `stop`, nor within SEARCHED bytes.

    The file's holes are passed over: they take no room on the disk, and may take any on paper.
    """
    at, read = start, 0
    while at < stop and read < SEARCHED:
        at = _after_hole(file, at, stop)
        piece = _pread(file, min(BLOCK, stop - at), at)
        end = piece.find(b"\n")
        if end >= 0:
            return at + end + 1
        if not piece:
            break
        at, read = at + len(piece), read + len(piece)
    return 0


def _pread(file: BinaryIO, count: int, at: int) -> bytes:
    """Bytes at a place of a plain file, whether they are there or come from elsewhere, where it stands behind them then."""
    if _is_local(file):
        return os.pread(file.fileno(), count, at)
    file.seek(at)
    return file.read(count)


def _is_local(file: BinaryIO) -> bool:
    return isinstance(getattr(file, "raw", file), io.FileIO)


def _after_hole(file: BinaryIO, at: int, stop: int) -> int:
    """Where data begins at or behind a place; the place itself for a remote file, whose holes are not known."""
    if not _is_local(file):
        return at
    try:
        return min(stop, os.lseek(file.fileno(), at, os.SEEK_DATA))
    except OSError as error:  # nothing but a hole follows, or the file system does not know of holes
        return stop if error.errno == errno.ENXIO else at


def after_last_end(file: BinaryIO, start: int, stop: int) -> int:
    """Where the last line that ends between two places of a plain file ends; 0 when none does."""
    at = _pread(file, stop - start, start).rfind(b"\n")
    return start + at + 1 if at >= 0 else 0


def ends(file: BinaryIO, start: int, stop: int) -> int:
    """How many lines end between two places of a plain file. Other threads go on meanwhile."""
    return sum(int(np.count_nonzero(marks)) for _, marks in _marked(file, start, stop))


def start_of(file: BinaryIO, start: int, stop: int, number: int) -> int | None:
    """Where the line begins that so many line ends of a plain file stand before, from byte `start` on; None when not before `stop`."""
    left = number
    for at, marks in _marked(file, start, stop) if number else ():
        count = int(np.count_nonzero(marks))
        if count >= left:
            found = at + int(np.flatnonzero(marks)[left - 1]) + 1
            return found if found < stop else None
        left -= count
    return None if number or start >= stop else start


def _marked(file: BinaryIO, start: int, stop: int) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Pieces of a plain file: where each begins, and which of its bytes are line ends."""
    held, marks = bytearray(_COUNTED), np.empty(_COUNTED, np.bool_)
    at = start
    if not _is_local(file):
        while at < stop and (data := _pread(file, min(_COUNTED, stop - at), at)):
            yield at, np.equal(np.frombuffer(data, np.uint8), ord("\n"), out=marks[: len(data)])
            at += len(data)
        return
    while at < stop and (count := os.preadv(file.fileno(), [memoryview(held)[: min(_COUNTED, stop - at)]], at)):
        yield at, np.equal(np.frombuffer(held, np.uint8, count), ord("\n"), out=marks[:count])
        at += count
