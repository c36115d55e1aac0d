"""Connections that ask nothing whole, or do not take the answer: uvicorn's protocol, which ends them after some seconds.

uvicorn bounds how long a connection may rest between two requests, and nothing else: one that sends half a request, or not even that, keeps
its file descriptor for ever, and a thousand of them keep everybody out; so does one that stops reading. Only the protocol sees them: an ASGI
application hears of a request once its headers are there. Knows bytes that come and go; knows neither routes nor pages.
"""

import asyncio
import time
from typing import Any, Final

import uvicorn.config
from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS: Final = 5.0
"""How long a request may take to arrive, body included; the board takes none that is large."""

STALLED_SECONDS: Final = 60.0
"""How long a client may take nothing of what waits for it."""

_LOOK_SECONDS: Final = 1.0


class Bounded(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """The protocol that uvicorn would choose, looked at once a second until it ends or is a websocket."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to look."""
        super().connection_made(transport)
        self._since, self._seen = time.monotonic(), None
        self._moved, self._waiting = self._since, 0
        self._look()

    def _look(self) -> None:
        """End the connection when the client has owed the rest of one request for too long, or has not read what it was sent."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        now = time.monotonic()
        waiting = self.transport.get_write_buffer_size()
        if waiting != self._waiting or not waiting:
            self._moved, self._waiting = now, waiting
        if self.cycle is not self._seen or waiting or not _owes(self.cycle):
            self._since, self._seen = now, self.cycle
        if now - self._since > SECONDS or now - self._moved > STALLED_SECONDS:
            self.transport.abort()
            return
        self.loop.call_later(_LOOK_SECONDS, self._look)


def _owes(cycle: Any) -> bool:
    """Whether it is the client's turn, after this request: to send its body, or another one."""
    return cycle is None or cycle.response_complete or cycle.more_body


def bound() -> None:
    """Have the server that this process starts use it, and what ends deaf websockets: Streamlit configures it, and offers no other way."""
    uvicorn.config.HTTP_PROTOCOLS["auto"] = f"{__name__}:{Bounded.__name__}"
    if "websockets-sansio" in uvicorn.config.WS_PROTOCOLS:  # older ones end by themselves
        uvicorn.config.WS_PROTOCOLS["websockets-sansio"] = "board.serving.deaf_readers:HeardWebsocket"
