"""Tests of two workers behind a real nginx, set up as the docs say and with connections it keeps open; and with TLS of their own."""

import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
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
READERS = 2


def documented(port: str) -> str:
    """What the docs say, with this port."""
    found = BLOCK.search((REPOSITORY / "docs/hosting.md").read_text(encoding="utf-8"))
    assert found
    return found[1].replace("http://127.0.0.1:8901", f"http://127.0.0.1:{port}")


def kept_open(port: str) -> str:
    """The same with connections to the board that nginx keeps, and sends whoever comes down whichever is free."""
    upstream = f"upstream board {{ server 127.0.0.1:{port}; keepalive 2; }}\n"
    changed = documented(port).replace(f"http://127.0.0.1:{port}", "http://board").replace("'' close", "'' ''")
    return upstream + changed


SETTINGS: dict[str, Callable[[str], str]] = {"as documented": documented, "with connections kept open": kept_open}

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
    """Where readers come in: a port with TLS, a path, and the name of the cookie that says whose they are."""

    port: int
    path: str
    cookie: str
    certificate: Certificate

    @property
    def address(self) -> str:
        """As a browser has it."""
        return f"https://localhost:{self.port}{self.path}"

    def answer(self, worker: int, path: str, method: str = "GET") -> http.client.HTTPResponse:
        """What a reader of that worker is answered, on a connection of his own."""
        connection = http.client.HTTPSConnection("localhost", self.port, context=self.certificate.trusted(), timeout=SECONDS)
        connection.request(method, self.path + path, headers={"Cookie": f"{self.cookie}={worker}"})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def session(self, worker: int) -> Session:
        """A reader of that worker."""
        return Session(self.address, f"{self.cookie}={worker}", self.certificate.trusted())


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


@pytest.fixture(scope="module", params=[*SETTINGS.values()], ids=[*SETTINGS])
def door(
    request: pytest.FixtureRequest, root: Path, certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Door]:
    """nginx in front of a board of two workers."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        pytest.skip("there is no nginx")
    aside = tmp_path_factory.mktemp("nginx")
    options = ("--workers", "2", "--server.baseUrlPath", "rl")
    with ExitStack() as stack:
        address, *_ = stack.enter_context(board_process.started(root, aside, *options))
        board, port = re.findall(r":(\d+)/", address)[0], free_port()
        settings = re.sub(r"\b443\b", str(port), request.param(board))
        settings = settings.replace("server_name board.example.org", "server_name localhost")
        for name, file in (("pem", certificate.file), ("key", certificate.key)):
            settings = re.sub(rf"/etc/ssl/board\.{name}", str(file), settings)
        user = "user root;" if os.geteuid() == 0 else ""
        (aside / "nginx.conf").write_text(WHOLE.format(aside=aside, user=user, settings=settings))
        out = stack.enter_context((aside / "nginx.txt").open("wb"))
        process = subprocess.Popen([nginx, "-p", str(aside), "-c", str(aside / "nginx.conf")], stdout=out, stderr=out)
        stack.callback(process.wait, SECONDS)
        stack.callback(process.terminate)
        found = Door(port, "/rl/", f"rl_board_worker_{board}", certificate)
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
        return door.answer(0, "_stcore/health").status == 200
    except (OSError, ssl.SSLError, http.client.HTTPException):
        return False


def test_readers_of_both_workers(door: Door) -> None:
    """In turn they ask for pages and files, and open websockets: each is answered at once, and none is sent away to ask again."""
    for at in range(12):
        for worker in range(READERS):
            assert door.answer(worker, "responses?run=run").status == 200
            assert door.answer(worker, "_stcore/health").status == 200
        with door.session((at + 1) % READERS) as reader:
            assert reader.page(run="run")


def test_what_is_sent_comes_to_its_worker(door: Door) -> None:
    """No answer says that another process has the session, not even to what cannot be asked again."""
    for at in range(12):
        assert door.answer(at % READERS, "responses").status == 200
        assert door.answer((at + 1) % READERS, "_stcore/health", "POST").status not in (421, 307)


def test_readers_at_once(door: Door) -> None:
    """Several websockets stay open at both workers while pages are asked for."""
    with ExitStack() as stack:
        readers = [stack.enter_context(door.session(at % READERS)) for at in range(6)]
        for at, reader in enumerate(readers):
            assert door.answer((at + 1) % READERS, "tokens?run=run").status == 200
            assert reader.page(run="run", step=at % 3)


def test_tls_of_the_boards_own(root: Path, certificate: Certificate, tmp_path: Path) -> None:
    """There the address says whose a reader is: whatever cookie he has of before, he is answered, and sent nowhere."""
    options = ("--workers", "2", "--server.sslCertFile", str(certificate.file), "--server.sslKeyFile", str(certificate.key))
    with board_process.started(root, tmp_path, *options) as (address, _, _):
        port = int(address.rstrip("/").rpartition(":")[2])
        door = Door(port, "/", f"rl_board_worker_{port}", certificate)
        eventually(lambda: answers(door))
        for worker in (0, 1):
            assert door.answer(worker, "responses?run=run").status == 200
            with door.session(worker) as reader:
                assert reader.page(run="run")
