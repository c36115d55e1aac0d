"""Web connections on which no answer takes for ever: one that comes a byte a second is cut, which no time-out between two bytes does.

Knows `requests` and the connections below it; knows no store.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

HEAD_SECONDS: Final = 30.0
"""Until the head of an answer is there."""

BODY_SECONDS: Final = 300.0
"""Until the rest of it is there."""


class _Plain(HTTPConnection):
    answering: socket.socket | None = None
    """Known still once an answer has said that it is the last on this connection."""

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]
        """As it is, cut in time."""
        self.answering = self.sock
        with _cut_after(self.answering, HEAD_SECONDS):
            return super().getresponse()


class _Secure(HTTPSConnection):
    answering: socket.socket | None = None

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]
        """As it is, cut in time."""
        self.answering = self.sock
        with _cut_after(self.answering, HEAD_SECONDS):
            return super().getresponse()


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _Secure


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> None:
        """None: where an answer leads is for who asked, and `requests` would read all of its body."""


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As it is, of connections that are cut in time."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}


def session() -> requests.Session:
    """A session of such connections; those by way of a proxy are as `requests` makes them."""
    made = _Session()
    for scheme in ("http://", "https://"):
        made.mount(scheme, _Adapter())
    return made


@contextmanager
def cut_in_time(answer: requests.Response) -> Iterator[None]:
    """Cut the connection of an answer whose rest is read, where that takes too long: reading it fails then."""
    connection = answer.raw.connection
    with _cut_after(connection.answering if isinstance(connection, _Plain | _Secure) else None, BODY_SECONDS):
        yield


@contextmanager
def _cut_after(connected: socket.socket | None, seconds: float) -> Iterator[None]:
    was_cut = threading.Event()

    def cut() -> None:
        was_cut.set()
        with suppress(OSError):
            if connected is not None:
                connected.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if was_cut.is_set():  # an answer without a length ends where its connection does, and would look whole
        raise TimeoutError("the answer took too long")
