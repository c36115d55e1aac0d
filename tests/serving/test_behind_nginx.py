"""Tests of boards behind a real nginx, set up as the docs say; and of a board with TLS of its own."""

import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import board_process
import certificates
import pytest
from board_process import SECONDS, eventually
from certificates import Certificate
from rows import add_run, token_row
from sessions import Session

REPOSITORY = Path(__file__).parents[2]
BLOCK = re.compile(r"```nginx\n(.*?)```", re.DOTALL)
READERS = 12
BOARDS = {"one": 1, "several": 2}
"""How many boards are behind nginx, in the order of the docs' configurations."""


def documented(ports: list[str]) -> str:
    """What the docs say for so many boards, at these ports; each answer names its board."""
    text = BLOCK.findall((REPOSITORY / "docs/hosting.md").read_text(encoding="utf-8"))[len(ports) - 1]
    for at, port in enumerate(ports):
        text = re.sub(rf"127\.0\.0\.1:{8901 + at}", f"127.0.0.1:{port}", text)
    return text.replace("proxy_buffering off;", "proxy_buffering off; add_header X-Board $upstream_addr always;")


WHOLE = """
daemon off;
{user}
pid {aside}/nginx.pid;
error_log stderr warn;
worker_processes 1;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {aside}/body;
    proxy_temp_path {aside}/proxy;
    fastcgi_temp_path {aside}/fastcgi;
    uwsgi_temp_path {aside}/uwsgi;
    scgi_temp_path {aside}/scgi;
    {settings}
}}
"""


@dataclass(frozen=True)
class Door:
    """Where readers come in: a port with TLS, a path, and how many boards are behind."""

    port: int
    path: str
    boards: int
    certificate: Certificate

    @property
    def address(self) -> str:
        """As a browser has it."""
        return f"https://localhost:{self.port}{self.path}"

    def answer(self, path: str, cookie: str = "") -> http.client.HTTPResponse:
        """What a reader with that cookie is answered, on a connection of its own."""
        connection = http.client.HTTPSConnection("localhost", self.port, context=self.certificate.trusted(), timeout=SECONDS)
        connection.request("GET", self.path + path, headers={"Cookie": cookie} if cookie else {})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """For this machine."""
    return certificates.made(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run."""
    root = tmp_path_factory.mktemp("root")
    add_run(root, "run", [token_row(step) for step in range(3)])
    return root


@pytest.fixture(scope="module", params=[*BOARDS.values()], ids=[*BOARDS])
def door(
    request: pytest.FixtureRequest, root: Path, certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Door]:
    """nginx in front of so many boards."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        pytest.skip("there is no nginx")
    aside = tmp_path_factory.mktemp("nginx")
    with ExitStack() as stack:
        boards = []
        for _ in range(request.param):
            own = tmp_path_factory.mktemp("board")
            address, *_ = stack.enter_context(board_process.started(root, own, "--server.baseUrlPath", "rl"))
            boards += re.findall(r":(\d+)/", address)
        port = free_port()
        settings = re.sub(r"\b443\b", str(port), documented(boards))
        settings = settings.replace("server_name board.example.org", "server_name localhost")
        for name, file in (("pem", certificate.file), ("key", certificate.key)):
            settings = re.sub(rf"/etc/ssl/board\.{name}", str(file), settings)
        user = "user root;" if os.geteuid() == 0 else ""
        (aside / "nginx.conf").write_text(WHOLE.format(aside=aside, user=user, settings=settings))
        out = stack.enter_context((aside / "nginx.txt").open("wb"))
        process = subprocess.Popen([nginx, "-p", str(aside), "-c", str(aside / "nginx.conf")], stdout=out, stderr=out)
        stack.callback(process.wait, SECONDS)
        stack.callback(process.terminate)
        found = Door(port, "/rl/", request.param, certificate)
        eventually(lambda: process.poll() is not None or answers(found))
        assert process.poll() is None, (aside / "nginx.txt").read_text()
        yield found


def free_port() -> int:
    """One that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(door: Door) -> bool:
    """Whether somebody listens there, and the board behind."""
    try:
        return door.answer("_stcore/health").status == 200
    except (OSError, ssl.SSLError, http.client.HTTPException):
        return False


def test_each_reader_is_at_one_board(door: Door) -> None:
    """Pages, files and websockets of a reader all come to the board that had the first request, and every board has readers."""
    used = set()
    for _ in range(READERS):
        first = door.answer("responses?run=run")
        assert first.status == 200
        cookie = (first.headers["set-cookie"] or "").partition(";")[0]
        assert bool(cookie) == (door.boards > 1)
        board = first.headers["x-board"]
        for path in ("tokens?run=run", "_stcore/health"):
            assert door.answer(path, cookie).headers["x-board"] == board
        with Session(door.address, cookie, door.certificate.trusted()) as reader:
            assert reader.page(run="run")
            assert reader.socket.response is not None
            assert reader.socket.response.headers["x-board"] == board
        used.add(board)
    assert len(used) == door.boards


def test_what_the_board_would_wait_for_ends_at_nginx(door: Door) -> None:
    """Half a request, and a handshake whose head is too long, which the board itself neither answers nor ends."""
    handshake = f"GET {door.path}_stcore/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    for sent, answered in ((f"GET {door.path} HTTP/1.1\r\n", b""), (f"{handshake}X: {'x' * 9_000}\r\n\r\n", b"HTTP/1.1 400")):
        with socket.create_connection(("localhost", door.port), SECONDS) as plain:
            client = door.certificate.trusted().wrap_socket(plain, server_hostname="localhost")
            client.sendall(sent.encode())
            assert client.recv(65_536)[:12] == answered
            client.close()


def test_tls_of_the_boards_own(root: Path, certificate: Certificate, tmp_path: Path) -> None:
    """With a certificate the board answers pages and websockets itself."""
    options = ("--server.sslCertFile", str(certificate.file), "--server.sslKeyFile", str(certificate.key))
    with board_process.started(root, tmp_path, *options) as (address, _, _):
        door = Door(int(address.rstrip("/").rpartition(":")[2]), "/", 1, certificate)
        eventually(lambda: answers(door))
        assert door.answer("responses?run=run").status == 200
        with Session(door.address, "", certificate.trusted()) as reader:
            assert reader.page(run="run")
