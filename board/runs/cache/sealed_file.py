"""A mapped file of the cache, each stretch verified against its sum before use.

Opening a run does not read the whole file. Disks lose bits, and half a block; without the sums a cache would then show wrong numbers. A sum
is XXH3 of 64 bits, as fast as memory is read.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from xxhash import xxh3_64_intdigest

Sum = tuple[int, int]
"""Where a stretch of the file ends, which begins where the one before ended, and the sum of its bytes."""

HEAD: Final = 0
"""The first stretch: the schema, where every buffer lies, and all columns that are not verified one by one."""

_State = tuple[int, int, int]


class Damaged(Exception):
    """The file is not as it was written. The message says which file."""


class Sealed:
    """A file as it was written, mapped. What lies at a stretch is to be used only after `is_sound` says so."""

    def __init__(self, path: Path, sums: Sequence[Sum]) -> None:
        """Map the file; its head and its end are verified at once. Raises Damaged, and OSError where it cannot be opened."""
        self.path = path
        self._stops = [0, *(stop for stop, _ in sums)]
        self._digests = [digest for _, digest in sums]
        status = path.stat()
        self.inode = status.st_ino
        self._is_cut = False
        self._verified: set[int] = set()
        self._seen = self._state()
        if status.st_size != self._stops[-1] or self._stops != sorted(self._stops):
            raise Damaged(f"{path.name} is not as long as it was written")
        self.whole = mapped(path)
        if not (self.is_sound(HEAD) and self.is_sound(len(sums) - 1)):
            raise Damaged(f"{path.name} is not as it was written")

    def is_sound(self, at: int) -> bool:
        """Whether a stretch is as it was written: looked at once, and again when somebody has written to the file since."""
        state = self._state()
        if state is not None and state != self._seen:
            self._verified.clear()
            self._seen = state
        self._is_cut = self._is_cut or (state is not None and state[0] < self._stops[-1])
        if self._is_cut:  # to read what is cut off would end the process
            return False
        if at not in self._verified and _digest(self.whole, self._stops[at], self._stops[at + 1]) == self._digests[at]:
            self._verified.add(at)
        return at in self._verified

    def is_there(self) -> bool:
        """Whether the file still stands under its name, and is no other."""
        return self._state() is not None

    def _state(self) -> _State | None:
        """What changes when somebody writes to the file; None when it was removed or replaced, as what is mapped is then ours alone."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        if status.st_ino != self.inode:
            return None
        return (status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def mapped(path: Path) -> pa.Buffer:
    """All of a file. Raises OSError."""
    with pa.memory_map(str(path)) as source:
        return source.read_buffer()


def sums(path: Path, one_by_one: int) -> tuple[Sum, ...]:
    """The sums of an Arrow file that was just written: of its head, of each of its last columns, so many of them, and of its end."""
    whole = mapped(path)
    table = pa.ipc.open_file(whole).read_all()
    ranges = [_range(table.column(at).chunk(0), whole.address) for at in range(table.num_columns)]
    starts = [start for start, _ in ranges[len(ranges) - one_by_one :]]
    ends = [*starts, max((stop for _, stop in ranges), default=whole.size), whole.size]
    return tuple((stop, _digest(whole, start, stop)) for start, stop in zip([0, *ends], ends, strict=False))


def _range(array: pa.Array, base: int) -> tuple[int, int]:
    """Where the buffers of a column begin and end in the file. Arrow writes one column behind the other."""
    buffers = [buffer for buffer in array.buffers() if buffer is not None and buffer.size]
    return min(one.address for one in buffers) - base, max(one.address + one.size for one in buffers) - base


def _digest(whole: pa.Buffer, start: int, stop: int) -> int:
    return int(xxh3_64_intdigest(whole.slice(start, stop - start)))
