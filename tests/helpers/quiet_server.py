"""A small HTTP server for stand-ins of real ones, which says nothing of clients that hang up."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietServer(ThreadingHTTPServer):
    """Its threads end with the tests."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is none."""


def send(handler: BaseHTTPRequestHandler, code: int, data: bytes, headers: dict[str, str]) -> None:
    """A whole answer."""
    handler.send_response(code)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
