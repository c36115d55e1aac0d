"""Memory that is let go of is used again for what comes next: to be given new memory by the system takes as long as to fill it.

Knows the C library's allocator and Arrow's; nothing of what is done meanwhile.
"""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

import pyarrow as pa

_KEPT: Final = 16_000_000
"""The C library keeps twice as many bytes, where nothing else of a process had it keep more."""

_RESERVED: Final = 64_000_000
"""Bytes that a process of its own needs to parse a byte range, and some more: what is not touched costs nothing."""

_HUGE_PAGE: Final = 1 << 21
_MADV_HUGEPAGE: Final = 14  # of Linux's <sys/mman.h>
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3  # of glibc's <malloc.h>

_lock = threading.Lock()
_under_way: list[pa.MemoryPool] = []
"""Which pool was Arrow's when each of those that are under way began."""


@contextmanager
def kept() -> Iterator[None]:
    """Arrow takes its memory from the C library, too, which keeps what it lets go of. Any number of threads may be in here at once.

    Arrow's own allocator takes huge pages, each of which the system clears for the little that is put there.
    """
    _keep()
    with _lock:
        _under_way.append(pa.default_memory_pool())
        pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        with _lock:
            if len(_under_way) == 1:
                pa.set_memory_pool(_under_way[0])
                _under_way.clear()
            else:
                _under_way.pop()


def take_in_huge_pages() -> None:
    """What the C library gives this process next comes 2 MB at a time where the system has such pages, and is kept to its end.

    For a process that does nothing but parse: to be given the memory of its first byte range by pages of 4 kB takes as long as to parse a
    sixth of it. Nothing happens without glibc.
    """
    if (library := _glibc()) is None:
        return
    begin = library.sbrk(0)
    for option, size in ((_M_TOP_PAD, _RESERVED), (_M_TRIM_THRESHOLD, 2 * _RESERVED), (_M_MMAP_THRESHOLD, 2 * _KEPT)):
        library.mallopt(option, size)
    library.free(library.malloc(_KEPT))  # more than is free by now: the heap grows by that and by what is reserved
    _in_huge_pages(library, begin, library.sbrk(0))


def take_in_huge_pages_here() -> None:
    """The same for as much as this thread keeps, which is given memory from a place of its own; others of its process go on as before."""
    if (library := _glibc()) is None:
        return
    _keep()
    blocks = sorted(library.malloc(_KEPT - _HUGE_PAGE) or 0 for _ in range(2))
    if blocks[0] and blocks[1] - blocks[0] < _KEPT:  # else there was no room, or each came from somewhere else
        _in_huge_pages(library, blocks[0], blocks[1] + _KEPT - _HUGE_PAGE)
    for block in blocks:
        library.free(block)


def _in_huge_pages(library: ctypes.CDLL, begin: int, end: int) -> None:
    """Ask for the whole huge pages between two addresses."""
    first, last = -(-begin // _HUGE_PAGE) * _HUGE_PAGE, end // _HUGE_PAGE * _HUGE_PAGE
    library.madvise(first, max(0, last - first), _MADV_HUGEPAGE)


@cache
def _glibc() -> ctypes.CDLL | None:
    """The C library; None where it is another."""
    library = ctypes.CDLL(None)
    if not all(hasattr(library, name) for name in ("sbrk", "mallopt", "madvise")):
        return None
    library.sbrk.restype = library.malloc.restype = ctypes.c_void_p
    library.sbrk.argtypes = [ctypes.c_ssize_t]
    library.malloc.argtypes = [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


@cache
def _keep() -> None:
    """glibc keeps twice the largest block that was ever let go of, of those below 32 MB; this one is never touched, and costs nothing."""
    bytes(_KEPT)
