"""Tests of the address of downloads: a real server on a real port, whose clients are honest, curious, slow, or gone."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from board.errors import RunNotFound
from board.runs.export import ExportPiece
from board.serving import downloads
from board.serving.downloads import PATH, Downloads, disposition, safe_name
from board.serving.exports import MOST_AT_ONCE, Export, Exports

MEGABYTE = b"x" * 1_000_000


@dataclass
class Server:
    """A server of downloads alone."""

    port: int
    exports: Exports

    def ticket(self, pieces: Callable[[], Iterator[ExportPiece]], rows: int = 1, name: str = "a.csv") -> tuple[str, Export]:
        """A file that was asked for, and the path of its ticket."""
        export = Export(name, "text/csv; charset=utf-8", rows, pieces)
        return f"/{PATH}/{self.exports.ask(export)}", export

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers of an answer. Raises IncompleteRead where it was cut off."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}

    def opened(self, path: str, window: int = 4096) -> socket.socket:
        """A connection that asked for a path, and has not read yet."""
        client = socket.create_connection(("127.0.0.1", self.port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return client


@pytest.fixture
def server() -> Iterator[Server]:
    """One that answers tickets alone."""
    exports = Exports()
    app = Starlette(routes=[Route(f"/{PATH}/{{ticket}}", Downloads(exports))])
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)  # so that what waits for a reader waits in the server
    host = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=host.run, kwargs={"sockets": [listening]})
    thread.start()
    yield Server(listening.getsockname()[1], exports)
    host.should_exit = host.force_exit = True
    thread.join()
    listening.close()


def waited(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold."""
    deadline = time.monotonic() + 60
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def endless() -> Iterator[ExportPiece]:
    """Pieces without end."""
    while True:
        yield ExportPiece(1, MEGABYTE)


def test_a_file_is_sent_once(server: Server) -> None:
    """All pieces arrive in order under the file's name; the ticket is then used up, and what it was good for is not said."""
    path, export = server.ticket(
        lambda: iter([ExportPiece(0, b"head,"), ExportPiece(2, MEGABYTE), ExportPiece(1, b"!")]), rows=3, name="ü.csv"
    )

    status, body, headers = server.get(path)

    assert (status, body) == (200, b"head," + MEGABYTE + b"!")
    assert headers["content-disposition"] == "attachment; filename=\"_.csv\"; filename*=UTF-8''%C3%BC.csv"
    assert (headers["content-type"], headers["cache-control"]) == ("text/csv; charset=utf-8", "no-store")
    assert waited(lambda: export.state == "done")
    assert (export.rows_sent, export.bytes_sent) == (3, len(body))
    for again in (path, f"/{PATH}/guessed"):
        assert server.get(again)[0] == 410


def test_an_empty_file_is_sent(server: Server) -> None:
    """A filter that leaves nothing gives a file with nothing in it."""
    path, export = server.ticket(lambda: iter(()), rows=0)
    assert server.get(path)[:2] == (200, b"")
    assert waited(lambda: export.state == "done")


@pytest.mark.parametrize(
    ("method", "site", "status"),
    [("HEAD", "same-origin", 405), ("POST", "same-origin", 405), ("GET", "cross-site", 403), ("GET", "same-site", 403)],
)
def test_what_is_no_download_of_the_page(server: Server, method: str, site: str, status: int) -> None:
    """A look at the address, or a page from elsewhere, gets nothing and uses up no ticket."""
    path, _ = server.ticket(lambda: iter([ExportPiece(1, b"data")]))
    assert server.get(path, method, Sec_Fetch_Site=site)[0] == status
    assert server.get(path, Sec_Fetch_Site="same-origin")[:2] == (200, b"data")


def test_what_fails_is_seen_to_be_cut_off(server: Server) -> None:
    """The file's end is missing, so that the browser takes it for broken, and the page is told why."""

    def broken() -> Iterator[ExportPiece]:
        yield ExportPiece(1, b"first")
        raise RunNotFound("was rewritten while it was being read: load the run again")

    path, export = server.ticket(broken, rows=2)
    with pytest.raises(http.client.IncompleteRead):
        server.get(path)
    assert (export.state, export.reason) == ("failed", "was rewritten while it was being read: load the run again")
    assert server.get(server.ticket(lambda: iter([ExportPiece(1, b"data")]))[0])[0] == 200


def test_a_reader_who_leaves_ends_it(server: Server) -> None:
    """No more is written, and there is room for others."""
    path, export = server.ticket(endless)
    with server.opened(path) as client:
        client.recv(65_536)
    assert waited(lambda: export.state == "ended")


def test_a_reader_who_stops_reading_is_not_waited_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made waits for him, little of it; after a while the connection ends."""
    monkeypatch.setattr(downloads, "STALLED_SECONDS", 2.0)
    made: list[int] = []

    def counted() -> Iterator[ExportPiece]:
        for piece in endless():
            made.append(len(piece.data))
            yield piece

    path, export = server.ticket(counted)
    with server.opened(path) as client:
        client.recv(100)
        assert waited(lambda: export.state == "ended")
    assert sum(made) < 30 * len(MEGABYTE)


def test_a_slow_reader_gets_all(server: Server) -> None:
    """The end of an answer waits for him."""
    path, export = server.ticket(lambda: iter([ExportPiece(1, MEGABYTE * 3)]))
    with server.opened(path, window=200_000) as client:
        client.settimeout(20)
        read = 0
        while export.state != "done":  # the server has handed over the last of it
            read += len(client.recv(20_000))
        time.sleep(1.6)
        while read < 3 * len(MEGABYTE) and (data := client.recv(65_536)):
            read += len(data)
    assert read >= 3 * len(MEGABYTE)


def test_few_at_a_time(server: Server) -> None:
    """One more is told to wait, and comes when another has ended."""
    path, _ = server.ticket(lambda: iter([ExportPiece(1, b"data")]))
    others = [server.ticket(endless) for _ in range(MOST_AT_ONCE)]
    clients = [server.opened(busy) for busy, _ in others]
    assert waited(lambda: all(export.state == "running" for _, export in others))
    assert server.get(path)[0] == 503
    clients.pop().close()
    assert waited(lambda: server.get(path)[0] != 503)
    for client in clients:
        client.close()


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
