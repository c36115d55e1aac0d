"""One of several processes that serve the pages: it listens nowhere, and goes on with the connections it is handed.

A connection on which another worker's reader asks next, as a proxy sends several down one, it hands back. It ends when nobody is left who
could hand it one. Knows uvicorn; knows neither routes nor runs.
"""

import asyncio
import json
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import uvicorn
from uvicorn.server import Server

from board.serving import handing
from board.serving.connections import Bounded

TELL_SECONDS: Final = 0.5
"""Between two words on how many readers it has."""

END_SECONDS: Final = 4.0
"""So long after the front is gone the process is, too, whatever its threads do."""

_AT_ONCE: Final = 64


class HandedServer(Server):
    """uvicorn's server, which takes no connection by itself. `front` is this worker's end of the pair over which it is handed them."""

    front: socket.socket
    is_anothers: Callable[[bytes], bool] = staticmethod(lambda read: False)
    """Whether a request that begins so is for another worker."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to go on with what is handed here; what Streamlit has bound, on loopback at any port, is closed before it is listened to."""
        for one in sockets or []:
            one.close()
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            self.should_exit = True
            return
        self.servers, self.started = [], True
        self._under_way: set[asyncio.Task[None]] = set()
        self._taken = 0
        asyncio.get_running_loop().add_reader(self.front.fileno(), self._take)
        self._tell()

    def _take(self) -> None:
        with suppress(BlockingIOError):
            for _ in range(_AT_ONCE):
                handed = handing.take(self.front)
                if handed is None:
                    self._left()
                    return
                self._taken += 1
                self._say()  # before it is gone on with: nobody else is to go on with it, whatever becomes of this process
                task = asyncio.ensure_future(self._go_on(handed))
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)

    async def _go_on(self, handed: handing.Handed) -> None:
        """Answer on that connection, beginning with what was read of it."""
        loop = asyncio.get_running_loop()

        def protocol() -> asyncio.Protocol:
            made: Bounded = self.config.http_protocol_class(  # type: ignore[call-arg, assignment]
                config=self.config, server_state=self.server_state, app_state=self.lifespan.state, _loop=loop
            )
            made.read_before = handed.read
            made.passed_on = self._pass_on
            return made

        try:
            await loop.connect_accepted_socket(protocol, handed.connection, ssl=self.config.ssl)
        except OSError:  # it went away; or what it speaks is no TLS
            handed.connection.close()

    def _pass_on(self, connection: socket.socket, read: bytes) -> bool:
        """Hand back a connection on which a request has just begun, if that is for another worker; False where it stays here."""
        try:
            return len(read) <= handing.MOST_BYTES and self.is_anothers(read) and handing.hand(self.front, connection, read)
        except OSError:  # nobody is there any more: this worker is about to end
            return False

    def _tell(self) -> None:
        """Say how many readers are here, again and again."""
        if self._say(readers=sum(not isinstance(one, Bounded) for one in self.server_state.connections)):
            asyncio.get_running_loop().call_later(TELL_SECONDS, self._tell)

    def _say(self, **more: int) -> bool:
        """Say how many connections have been taken so far, and what more there is to say; False where nobody hears it any more."""
        try:
            self.front.send(json.dumps({"taken": self._taken, **more}).encode())
        except BlockingIOError:
            pass  # the front will hear of it next time
        except OSError:
            self._left()
            return False
        return True

    def _left(self) -> None:
        """Nobody will hand anything any more: end, if need be without waiting for anybody."""
        asyncio.get_running_loop().remove_reader(self.front.fileno())
        self.should_exit = True
        timer = threading.Timer(END_SECONDS, os._exit, (1,))
        timer.daemon = True
        timer.start()


def handed_by(front: socket.socket) -> None:
    """Have the server that this process starts be handed its connections: Streamlit makes it, and offers no other way."""
    HandedServer.front = front
    uvicorn.Server = HandedServer  # type: ignore[misc]


def hands_back(is_anothers: Callable[[bytes], bool]) -> None:
    """Have that server hand back connections on which a request is another worker's, which is told of how it begins."""
    HandedServer.is_anothers = staticmethod(is_anothers)
