"""A reader's session as the server sees one, without a browser: a websocket that asks for pages. Knows no page."""

import socket
import ssl
from contextlib import ExitStack, suppress
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

PATIENCE = 60.0


class Session:
    """One reader at a board's address; `cookie` is sent as a browser would, `trusts` is for an address with TLS. Ends with the block."""

    def __init__(self, address: str, cookie: str = "", trusts: ssl.SSLContext | None = None) -> None:
        headers = {"Cookie": cookie} if cookie else {}
        stream = f"{address.partition('?')[0].replace('http', 'ws', 1)}_stcore/stream"
        self._ending = ExitStack()
        self.socket: ClientConnection = self._ending.enter_context(
            connect(
                stream,
                additional_headers=headers,
                ssl=trusts,
                max_size=None,
                ping_interval=None,
                open_timeout=PATIENCE,
                close_timeout=0.1,
            )
        )

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.socket.socket.shutdown(socket.SHUT_RDWR)
        self._ending.close()

    def ask(self, **place: str | int) -> None:
        """Ask for the first page at a place, without waiting for it."""
        asked = BackMsg()
        asked.rerun_script.query_string = urlencode(place)
        self.socket.send(asked.SerializeToString())

    def page(self, **place: str | int) -> list[str]:
        """The texts of the first page at a place, once it is whole. Raises AssertionError where it shows an exception."""
        self.ask(**place)
        texts = []
        while True:
            said = ForwardMsg()
            said.ParseFromString(self.socket.recv(timeout=PATIENCE, decode=False))
            if said.HasField("delta"):
                element = said.delta.new_element
                assert not element.HasField("exception"), element.exception.message
                texts += [element.text.body] if element.HasField("text") else []
            if said.HasField("script_finished"):
                return texts

    def is_open(self) -> bool:
        """Whether the server answers on it."""
        try:
            answered = self.socket.ping()
            for _ in range(int(PATIENCE / 0.1)):
                if answered.wait(0.1):
                    return True
                self.socket.ping()  # raises once the connection is closed, which who waits for an answer is not told
            return False
        except Exception:  # noqa: BLE001  # whichever way it is closed
            return False
