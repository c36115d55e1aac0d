"""Tests of the address of downloads: a real server on a real port, whose clients are honest, curious, slow, or gone."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from board.errors import ArgumentRefused, BoardError, RunNotFound
from board.runs.export import ExportPiece
from board.serving import downloads, log_in
from board.serving.downloads import MOST_AT_ONCE, PATH, Downloads, ExportFile, disposition, safe_name

MEGABYTE = b"x" * 1_000_000


@dataclass
class Server:
    """A server of downloads alone, which answers with what `pieces` are."""

    port: int
    pieces: Callable[[], Iterator[ExportPiece]] = lambda: iter([ExportPiece(1, b"data")])

    def made(self, query: Mapping[str, str]) -> ExportFile:
        """A file of these pieces, under the name that is asked for."""
        return ExportFile(query.get("name", "a.csv"), "text/csv; charset=utf-8", self.pieces())

    def get(self, path: str = f"/{PATH}", method: str = "GET", **headers: str) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers of an answer. Raises IncompleteRead where it was cut off."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}

    def opened(self, window: int = 4096) -> socket.socket:
        """A connection that asked for the file, and has not read yet."""
        client = socket.create_connection(("127.0.0.1", self.port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        client.sendall(f"GET /{PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return client


@pytest.fixture
def server() -> Iterator[Server]:
    """One that answers at that address alone."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)  # so that what waits for a reader waits in the server
    served = Server(listening.getsockname()[1])
    app = Starlette(routes=[Route(f"/{PATH}", Downloads(served.made))])
    host = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=host.run, kwargs={"sockets": [listening]})
    thread.start()
    yield served
    host.should_exit = host.force_exit = True
    thread.join()
    listening.close()


def waited(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold."""
    deadline = time.monotonic() + 60
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


class Endless:
    """Pieces without end: how many were made, and for how many nobody asks any more."""

    def __init__(self) -> None:
        self.made = self.begun = self.ended = 0

    def __call__(self) -> Iterator[ExportPiece]:
        """One after the other."""
        self.begun += 1
        try:
            while True:
                self.made += 1
                yield ExportPiece(1, MEGABYTE)
        finally:
            self.ended += 1


def test_a_file_is_sent(server: Server) -> None:
    """All pieces arrive in order, under the file's name."""
    server.pieces = lambda: iter([ExportPiece(0, b"head,"), ExportPiece(2, MEGABYTE), ExportPiece(1, b"!")])

    status, body, headers = server.get(f"/{PATH}?name=%C3%BC.csv")

    assert (status, body) == (200, b"head," + MEGABYTE + b"!")
    assert headers["content-disposition"] == "attachment; filename=\"_.csv\"; filename*=UTF-8''%C3%BC.csv"
    assert (headers["content-type"], headers["cache-control"]) == ("text/csv; charset=utf-8", "no-store")


def test_an_empty_file_is_sent(server: Server) -> None:
    """A filter that leaves nothing gives a file with nothing in it."""
    server.pieces = lambda: iter(())
    assert server.get()[:2] == (200, b"")


@pytest.mark.parametrize(
    ("method", "site", "status"),
    [("HEAD", "same-origin", 405), ("POST", "same-origin", 405), ("GET", "cross-site", 403), ("GET", "same-site", 403)],
)
def test_what_is_no_download_of_the_page(server: Server, method: str, site: str, status: int) -> None:
    """A look at the address, or a page from elsewhere, gets nothing."""
    assert server.get(method=method, Sec_Fetch_Site=site)[0] == status
    assert server.get(Sec_Fetch_Site="same-origin")[:2] == (200, b"data")


@pytest.mark.parametrize(("error", "status"), [(RunNotFound("no such run"), 404), (ArgumentRefused("no such format"), 400)])
def test_what_cannot_be_made_is_told(server: Server, error: BoardError, status: int) -> None:
    """In the sentence of the error, as plain text."""

    def refused() -> Iterator[ExportPiece]:
        raise error

    server.pieces = refused
    answer = server.get()
    assert answer[:2] == (status, f"{error}\n".encode())
    assert answer[2]["content-type"].startswith("text/plain")


def test_what_fails_is_seen_to_be_cut_off(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """The file's end is missing, so that the browser takes it for broken, and the server's output says why."""

    def broken() -> Iterator[ExportPiece]:
        yield ExportPiece(1, b"first")
        raise RunNotFound("was rewritten while it was being read: load the run again")

    server.pieces = broken
    with pytest.raises(http.client.IncompleteRead):
        server.get()
    assert waited(lambda: "a.csv was cut off: was rewritten while it was being read" in caplog.text)
    server.pieces = lambda: iter([ExportPiece(1, b"data")])
    assert server.get()[0] == 200


def test_a_reader_who_leaves_ends_it(server: Server) -> None:
    """No more is written, and what was being made is let go."""
    server.pieces = endless = Endless()
    with server.opened() as client:
        client.recv(65_536)
    assert waited(lambda: endless.ended == 1)


def test_a_reader_who_stops_reading_is_not_waited_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made waits for him, little of it; after a while the connection ends."""
    monkeypatch.setattr(downloads, "STALLED_SECONDS", 2.0)
    server.pieces = endless = Endless()
    with server.opened() as client:
        client.recv(100)
        assert waited(lambda: endless.ended == 1)
    assert endless.made < 30


def test_a_slow_reader_gets_all(server: Server) -> None:
    """The end of an answer waits for him."""
    server.pieces = lambda: iter([ExportPiece(1, MEGABYTE * 3)])
    read = 0
    with server.opened(window=200_000) as client:
        client.settimeout(20)
        while read < 3 * len(MEGABYTE) and (data := client.recv(20_000)):
            read += len(data)
            time.sleep(1.6 * (read > 2.9 * len(MEGABYTE) > read - len(data)))
    assert read >= 3 * len(MEGABYTE)


def test_few_at_a_time(server: Server) -> None:
    """One more is told to wait, and comes when another has ended."""
    server.pieces = endless = Endless()
    clients = [server.opened() for _ in range(MOST_AT_ONCE)]
    assert waited(lambda: endless.begun == MOST_AT_ONCE)
    server.pieces = lambda: iter([ExportPiece(1, b"data")])
    assert server.get()[0] == 503
    clients.pop().close()
    assert waited(lambda: server.get()[0] == 200)
    for client in clients:
        client.close()


def test_links_are_signed_where_readers_log_in(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what a page signed nothing is answered, nor for anything else than it was signed for, nor after its hour."""
    assert downloads.link({"name": "b c.csv"}) == f"{PATH}?name=b+c.csv"
    log_in.REQUIRED.set()
    try:
        signed = f"/{downloads.link({'name': 'b.csv'})}"
        assert server.get(signed)[:2] == (200, b"data")
        for other in (
            f"/{PATH}?name=b.csv",
            signed.replace("b.csv", "c.csv"),
            f"{signed}0",
            signed.partition("&until")[0],
            f"/{PATH}",
        ):
            assert server.get(other)[0] == 403, other
        monkeypatch.setattr(downloads, "SIGNED_SECONDS", -1)
        assert server.get(f"/{downloads.link({'name': 'b.csv'})}")[0] == 403
    finally:
        log_in.REQUIRED.clear()


NAMES: dict[str, tuple[str, str]] = {
    "plain": ("run-3-rollouts.csv", "run-3-rollouts.csv"),
    "another header": ('a"\r\nSet-Cookie: x=1.csv', "a___Set-Cookie_ x=1.csv"),
    "another folder": ("../../etc/passwd.csv", "_.._etc_passwd.csv"),
    "a drive": ("C:\\x.csv", "C__x.csv"),
    "bytes that are no text": ("bad\udcff\u202e.csv", "bad__.csv"),
    "as the board shows such bytes": ("bad\\xff.csv", "bad_xff.csv"),
    "only dots": ("...csv", "rollouts.csv"),
    "hidden": (".hidden.csv", "hidden.csv"),
    "long": ("é" * 300 + ".parquet", "é" * 60 + ".parquet"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_safe(name: str) -> None:
    """No run's name leads elsewhere, adds a header or is refused by some system; the ending stays."""
    given, wanted = NAMES[name]
    assert safe_name(given) == wanted
    header = disposition(given)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
