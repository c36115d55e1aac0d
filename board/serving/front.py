"""The one address of several workers: takes connections, reads whose each is, and hands it to that reader's worker, which goes on with it.

A reader's websocket, files and downloads must reach one process: a cookie that the worker gave says which. No byte passes through here after
the first request's head, and what may be asked is for the workers' own gates. Knows neither runs nor Streamlit.
"""

import asyncio
import ipaddress
import socket
import zlib
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from board.serving import handing
from board.serving.handing import Handed
from board.serving.worker_cookie import WorkerCookie

HEAD_SECONDS: Final = 5.0
"""How long the head of a connection's first request may take to arrive."""

WAIT_SECONDS: Final = 60.0
"""How long a connection waits for its worker where that is only starting."""

MOST_WAITING: Final = 400
"""So many connections may be on their way to a worker; whoever comes then is sent away."""

_BACKLOG: Final = 2048
_AGAIN_SECONDS: Final = 0.02
_READ_BYTES: Final = 16_384

BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-length: 48\r\n\r\nThis board is starting or busy: try it again.  \n"
)


class Workstation(Protocol):
    """Where a worker stands: it may be starting again, but the place stays."""

    ready: asyncio.Event
    end: socket.socket | None
    """Ours of the pair over which the worker is handed connections; None while there is no worker."""

    @property
    def load(self) -> int:
        """How many readers it has."""

    def handed(self, what: Handed) -> None:
        """To be called with each connection that it was handed, which is closed here afterwards."""


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there, for both kinds of addresses where it is of the newer. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server(
        (host, port), family=family, backlog=_BACKLOG, dualstack_ipv6=family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    )
    listener.setblocking(False)
    return listener


class Front:
    """Hands the connections that come to a listener to `places`. With `encrypted` nothing can be read of them: the client's address decides."""

    def __init__(self, listener: socket.socket, places: Sequence[Workstation], *, encrypted: bool) -> None:
        self._listener = listener
        self._places = places
        self._encrypted = encrypted
        self._cookie = WorkerCookie(listener.getsockname()[1], len(places))
        self._under_way: set[asyncio.Task[None]] = set()

    async def take(self) -> None:
        """Take connections until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, client = await loop.sock_accept(self._listener)
            except OSError:  # it went away again, or there are too many open files
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            if len(self._under_way) >= MOST_WAITING:
                connection.close()
                continue
            self._begin(self._bring(connection, str(client[0])))

    def again(self, handed: Handed) -> None:
        """A worker hands back a connection on which another's reader asks: bring it there, with what was read of that request."""

        async def bring() -> None:
            with handed.connection, suppress(OSError):
                await self._hand_within(handed.connection, handed.read, "")

        self._begin(bring())

    def _begin(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(doing)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _bring(self, connection: socket.socket, client: str) -> None:
        """Hand one connection on, or end it; no other waits for it."""
        with connection, suppress(OSError):
            try:
                async with asyncio.timeout(HEAD_SECONDS):
                    read = b"" if self._encrypted else await _head(connection)
            except TimeoutError:
                return
            if read is not None:
                await self._hand_within(connection, read, client)

    async def _hand_within(self, connection: socket.socket, read: bytes, client: str) -> None:
        """Hand it to its worker, or say that this takes too long."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._hand(self._place_of(read, client), connection, read)
        except TimeoutError:
            if not self._encrypted:
                connection.send(BUSY)

    def _place_of(self, read: bytes, client: str) -> Workstation:
        """The worker that the cookie names; without one the one with the fewest readers."""
        if self._encrypted:
            return self._places[zlib.crc32(machine_of(client).encode()) % len(self._places)]
        named = self._cookie.named(read.partition(b"\r\n\r\n")[0])
        if named is not None:
            return self._places[named]
        return min(self._places, key=lambda place: (not place.ready.is_set(), place.load))

    async def _hand(self, place: Workstation, connection: socket.socket, read: bytes) -> None:
        """Hand it to whoever works at that place, now or when it has started again."""
        while True:
            await place.ready.wait()
            with suppress(OSError):  # it ended this very moment
                if place.end and handing.hand(place.end, connection, read):
                    place.handed(Handed(connection, read))
                    return
            await asyncio.sleep(_AGAIN_SECONDS)


def machine_of(client: str) -> str:
    """A client's address, the same for a connection of the older kind as for one of the newer, which browsers mix on one machine."""
    with suppress(ValueError):  # a name is none
        address = ipaddress.ip_address(client.partition("%")[0])
        older = getattr(address, "ipv4_mapped", None) or address
        return "this machine" if older.is_loopback else str(older)
    return client


async def _head(connection: socket.socket) -> bytes | None:
    """What the client sends until its first request's head is whole, or is too long to be one; None where it goes away before."""
    connection.setblocking(False)
    loop, read = asyncio.get_running_loop(), b""
    while b"\r\n\r\n" not in read and len(read) <= handing.MOST_BYTES - _READ_BYTES:
        piece = await loop.sock_recv(connection, _READ_BYTES)
        if not piece:
            return None
        read += piece
    return read
