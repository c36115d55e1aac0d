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


def keep_all() -> None:
    """The C library keeps what this process lets go of, 128 MB at most. For a process that does nothing but parse; nothing without glibc.

    Huge pages are not asked for, though they come sooner where there are some: a virtual machine that gives back to its host what is free
    gives back whole huge pages alone, and each of them then takes milliseconds to come.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for option, size in ((_M_TOP_PAD, _RESERVED), (_M_TRIM_THRESHOLD, 2 * _RESERVED), (_M_MMAP_THRESHOLD, 2 * _KEPT)):
            library.mallopt(option, size)


@cache
def _keep() -> None:
    """glibc keeps twice the largest block that was ever let go of, of those below 32 MB; this one is never touched, and costs nothing."""
    bytes(_KEPT)
