"""Which requests the board lets through: pages and what they ask for; all else is refused from its head."""

import socket
from contextlib import suppress

import pytest
import requests
from streamlit.web.server.starlette import starlette_routes

KEY = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"

HANDSHAKES: dict[str, tuple[bytes, bytes, bytes]] = {
    "another method": (b"POST /_stcore/stream", KEY, b""),
    "a name that is no token": (b"GET /_stcore/stream", KEY + b"X y: z\r\n", b""),
    "no key": (b"GET /_stcore/stream", b"", b"400"),
    "another place": (b"GET /elsewhere", KEY, b"403"),
}
"""Method and address, headers, and the status of the answer; empty where the connection may end without one."""


@pytest.mark.parametrize("name", HANDSHAKES)
def test_every_handshake_is_answered_or_ended(board_server: str, name: str) -> None:
    """A websocket request that cannot be one keeps no connection; of heads that are too long see docs/limits.md."""
    asked, headers, status = HANDSHAKES[name]
    host, _, port = board_server.removeprefix("http://").strip("/").partition(":")
    head = asked + b" HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" + headers + b"\r\n"
    with socket.create_connection((host, int(port)), timeout=20) as client:
        client.sendall(head)
        answer = b""
        with suppress(ConnectionResetError):
            while piece := client.recv(65_536):
                answer += piece
    assert status in answer.partition(b"\r\n")[0]


UNUSED = [
    ("PUT", f"{starlette_routes.BASE_ROUTE_UPLOAD_FILE}/session/file"),
    ("DELETE", f"{starlette_routes.BASE_ROUTE_UPLOAD_FILE}/session/file"),
    ("OPTIONS", f"{starlette_routes.BASE_ROUTE_UPLOAD_FILE}/session/file"),
    ("GET", starlette_routes.ROUTE_METRICS),
    ("GET", starlette_routes.ROUTE_SCRIPT_HEALTH),
    ("GET", "_stcore/bidi-components/any/index.js"),
    ("GET", "_stcore/agent/openapi.json"),
    ("POST", "_stcore/agent/mcp"),
    ("GET", f"{starlette_routes.BASE_ROUTE_COMPONENT}/any/index.html"),
    ("GET", f"{starlette_routes.BASE_ROUTE_APP_STATIC}/any.txt"),
    ("OPTIONS", f"{starlette_routes.BASE_ROUTE_MEDIA}/any.csv"),
    ("POST", ""),
    ("PUT", "tokens"),
    ("PATCH", "_stcore/health"),
    ("PUT", "/_stcore/upload_file/session/file"),
    ("PUT", "_stcore/../_stcore/upload_file/session/file"),
    ("put", "_stcore/upload_file/session/file"),
]
"""Methods and addresses that no page of ours asks for."""


@pytest.mark.parametrize(("method", "path"), UNUSED, ids=[" ".join(one) for one in UNUSED])
def test_what_no_page_asks_for_is_refused_unread(board_server: str, method: str, path: str) -> None:
    """Streamlit's other endpoints and all other methods are refused from the head of the request: a body is not waited for."""
    host, _, port = board_server.removeprefix("http://").strip("/").partition(":")
    head = f"{method} /{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=20) as client:
        client.sendall(head.encode())
        status = client.recv(65_536).partition(b"\r\n")[0]

    assert status.split()[1] in (b"400", b"404", b"405")


@pytest.mark.parametrize("path", ["", "tokens", "_stcore/health", "_stcore/host-config", "tokens/_stcore/health"])
def test_what_pages_ask_for_is_answered(board_server: str, path: str) -> None:
    """Pages and the endpoints that Streamlit's own scripts ask are let through."""
    assert requests.get(f"{board_server}{path}", allow_redirects=False, timeout=60).status_code in (200, 300, 307)
