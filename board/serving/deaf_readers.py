"""Websockets whose reader takes nothing: uvicorn's protocol, which ends them when no answer comes to its question whether somebody is there.

uvicorn closes them then, which waits until all is taken that was written: for ever, with the session and what waits for it. Knows bytes that
wait; knows neither sessions nor pages.
"""

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class HeardWebsocket(WebSocketsSansIOProtocol):
    """The same, ended at once where its reader has not answered in time."""

    def keepalive_timeout(self) -> None:
        """Nobody has answered: say so to whoever may still hear it, and wait for nobody."""
        super().keepalive_timeout()
        self.transport.abort()
