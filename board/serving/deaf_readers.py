"""Websockets whose reader takes nothing: uvicorn's protocol, which ends them when no answer comes to its question whether somebody is there.

uvicorn closes them then, which waits until all is taken that was written: for ever, with the session and what waits for it. It also keeps
every connection whose request is refused by its head alone. Knows bytes that wait; knows neither sessions nor pages.
"""

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class HeardWebsocket(WebSocketsSansIOProtocol):
    """The same, ended at once where its reader has not answered in time."""

    def keepalive_timeout(self) -> None:
        """Nobody has answered: say so to whoever may still hear it, and wait for nobody."""
        super().keepalive_timeout()
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came; a head that websockets refuses, a line too long or no GET, is answered with its refusal, and ended."""
        super().data_received(data)
        if not self.handshake_initiated:  # the whole head comes at once
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()
