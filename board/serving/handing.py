"""Connections handed from one process to another over a pair of sockets, each with what was read of it already.

A message is one connection: its first bytes, and beside them its file descriptor, which the kernel makes the other process's own. Knows neither
HTTP nor who serves.
"""

import errno
import socket
from dataclasses import dataclass
from typing import Final

from board.errors import BoardError

MOST_BYTES: Final = 65_536
"""So much of a connection may have been read when it is handed on: as much as a server lets the head of a request be."""

_NOTHING_READ: Final = b"\0"
"""Stands before what was read: a message without bytes is none."""


@dataclass(frozen=True)
class Handed:
    """A connection, and what was read of it."""

    connection: socket.socket
    read: bytes


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends that keep messages apart. Raises BoardError on a system that has none such."""
    if not hasattr(socket, "SOCK_SEQPACKET") or not hasattr(socket, "send_fds"):
        raise BoardError("More than one worker needs Linux: this system cannot hand a connection from one process to another.")
    try:
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    except OSError as error:
        raise BoardError(f"More than one worker needs Linux: {error.strerror}.") from error
    for one in ends:
        one.setblocking(False)
    return ends


def hand(end: socket.socket, connection: socket.socket, read: bytes) -> bool:
    """Hand a connection to whoever has the other end; False where that one has too many waiting. Ours is to be closed then.

    Raises OSError where nobody has the other end.
    """
    try:
        socket.send_fds(end, [_NOTHING_READ, read], [connection.fileno()])
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EWOULDBLOCK, errno.ENOBUFS, errno.ETOOMANYREFS):
            return False
        raise
    return True


def take(end: socket.socket) -> Handed | None:
    """The next connection that was handed here; None once nobody will hand another. Raises BlockingIOError while there is none."""
    found = heard(end)
    return found if isinstance(found, Handed) else None


def heard(end: socket.socket) -> Handed | bytes:
    """The next connection that was handed here, or the next word that was sent: an empty one once nobody will. Raises BlockingIOError."""
    message, descriptors, _, _ = socket.recv_fds(end, len(_NOTHING_READ) + MOST_BYTES, 1)
    if not descriptors:
        return message
    connection = socket.socket(fileno=descriptors[0])
    connection.setblocking(False)
    return Handed(connection, message.removeprefix(_NOTHING_READ))
