"""A web server on loopback that lists a folder as Python's does and serves ranges of its files, and does badly what a test wants done badly."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote


class RangeServer:
    """What it serves, how it behaves, and what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.asked: list[tuple[str, str, str]] = []
        """Method, path and range of each request."""
        self.sent: Counter[str] = Counter()
        """Bytes of bodies by path."""
        self.cut_after: list[int] = []
        """The next answers end after so many bytes, each of these once."""
        self.status: int = 0
        """Answer everything so; 0 to answer."""
        self.busy: int = 0
        """So many requests are told that the server is busy."""
        self.seconds: float = 0.0
        """Before each answer."""
        self.redirect: Callable[[str], str | None] = lambda path: None
        """Where a path leads; None where it is served."""
        self.lie: Callable[[BaseHTTPRequestHandler], bool] = lambda handler: False
        """Answers a request in a way of its own; False where it leaves it."""
        self.ranges = True
        self.etags = True

    @property
    def address(self) -> str:
        """Of the folder."""
        return f"http://127.0.0.1:{self.port}"

    def files_sent(self) -> int:
        """Bytes of files that went out, without pages."""
        return sum(count for path, count in self.sent.items() if not path.endswith("/"))


class _Handler(BaseHTTPRequestHandler):
    """Answers as `told` says."""

    told: RangeServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """As GET without the bytes."""
        self._answer(body=False)

    def do_GET(self) -> None:
        """A page for a folder, a file or a range of it."""
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        self.told.asked.append((self.command, self.path, self.headers.get("Range", "")))
        time.sleep(self.told.seconds)
        if self.told.lie(self):
            self.close_connection = True
            return
        status = self.told.status or (503 if self.told.busy > 0 else 0)
        self.told.busy -= 1
        if status:
            self._send(status, b"no", {}, body=body)
        elif there := self.told.redirect(self.path):
            self._send(302, b"", {"Location": there}, body=body)
        elif (path := self.told.folder / unquote(self.path).strip("/")).is_dir():
            self._page(path, body=body)
        elif path.is_file():
            self._file(path, body=body)
        else:
            self._send(404, b"none", {}, body=body)

    def _page(self, folder: Path, *, body: bool) -> None:
        names = sorted(f"{path.name}/" if path.is_dir() else path.name for path in folder.iterdir())
        links = "".join(f'<li><a href="{quote(name)}">{escape(name)}</a></li>\n' for name in names)
        page = f"<!DOCTYPE HTML><html><body><h1>Directory listing</h1><ul>\n{links}</ul></body></html>"
        self._send(200, page.encode(), {"Content-Type": "text/html; charset=utf-8"}, body=body)

    def _file(self, path: Path, *, body: bool) -> None:
        data, status = path.read_bytes(), path.stat()
        headers = {"Last-Modified": formatdate(status.st_mtime, usegmt=True)}
        if self.told.etags:
            headers["ETag"] = f'"{status.st_mtime_ns}-{status.st_size}"'
        asked = self.headers.get("Range", "")
        if not (asked and self.told.ranges):
            self._send(200, data, headers, body=body)
            return
        start, stop = (int(part) for part in asked.removeprefix("bytes=").split("-"))
        if start >= len(data):
            self._send(416, b"", headers, body=body)
            return
        piece = data[start : stop + 1]
        headers["Content-Range"] = f"bytes {start}-{start + len(piece) - 1}/{len(data)}"
        self._send(206, piece, headers, body=body)

    def _send(self, code: int, data: bytes, headers: dict[str, str], *, body: bool) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if not body:
            return
        if code == 206 and self.told.cut_after:
            data = data[: self.told.cut_after.pop(0)]
            self.close_connection = True
        self.told.sent[self.path] += len(data)  # before: whoever has read the answer may look at once
        self.wfile.write(data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is none."""


@contextmanager
def range_server(folder: Path) -> Iterator[RangeServer]:
    """A server of a folder that ends with the context."""
    told = RangeServer(folder)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"told": told}))
    told.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
