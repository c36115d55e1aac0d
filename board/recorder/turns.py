"""Who else writes a file, and whose turn it is to change what stands beside it: locks on the file that end with their process.

They are locks of Linux's open file descriptions, on bytes that no file reaches: unlike others they tell two writers of one process apart, and
unlike a lock file they leave nothing behind. Where there are none (another system, a file system without them) everybody takes himself for the
only writer. Knows nothing of what is in the file.
"""

import errno
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    _SET = None
else:
    _SET = getattr(fcntl, "F_OFD_SETLK", None)

_TURN: Final = 2**62
_WRITING: Final = _TURN + 1
_WAIT_SECONDS: Final = 2.0
"""How long a turn is waited for: others take milliseconds, and a process that was stopped holds up nobody for longer."""

_PAUSE_SECONDS: Final = 0.005


@contextmanager
def turn(descriptor: int) -> Iterator[None]:
    """Be the only one in here with the file. Raises TimeoutError, an OSError, when another does not leave."""
    waited_until = time.monotonic() + _WAIT_SECONDS
    while not _set(descriptor, _TURN, exclusive=True):
        if time.monotonic() > waited_until:
            raise TimeoutError(errno.ETIMEDOUT, "another process holds it, and does not go on")
        time.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        _release(descriptor, _TURN)


def begin(descriptor: int) -> None:
    """Be one of those who write the file, until `end`, or the end of the process."""
    _set(descriptor, _WRITING, exclusive=False)


def end(descriptor: int) -> bool:
    """Write no more; whether nobody else writes either."""
    alone = _set(descriptor, _WRITING, exclusive=True)
    _release(descriptor, _WRITING)
    return alone


def _set(descriptor: int, byte: int, *, exclusive: bool) -> bool:
    return _SET is None or _change(descriptor, byte, fcntl.F_WRLCK if exclusive else fcntl.F_RDLCK)


def _release(descriptor: int, byte: int) -> None:
    if _SET is not None:
        _change(descriptor, byte, fcntl.F_UNLCK)


def _change(descriptor: int, byte: int, kind: int) -> bool:
    """Whether the lock is as wanted; False while another's is in the way."""
    assert _SET is not None
    try:
        fcntl.fcntl(descriptor, _SET, struct.pack("hhqqi4x", kind, 0, byte, 1, 0))
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES)
    return True
