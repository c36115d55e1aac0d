"""Tests of a board of several processes: real ones, with readers who stay with theirs, and one that is killed."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import board_process
import pytest
from board_process import SECONDS, eventually
from rows import add_run, token_row
from servers import Serve
from sessions import Session
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

REPOSITORY = Path(__file__).parents[2]
ROWS = [token_row(step) for step in range(3)]


@dataclass(frozen=True)
class Board:
    """A board of several processes: its address, which ends in a slash, and the process that was started."""

    address: str
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def workers(self) -> list[int]:
        """The processes that serve, in the order in which they were started."""
        found = []
        for one in children(self.process.pid):
            command = Path(f"/proc/{one}/cmdline").read_bytes()
            found += [one] if b"board.cli.worker" in command else []
        return sorted(found)

    def cookie(self, worker: int) -> str:
        """What a reader of that worker sends."""
        return f"rl_board_worker_{self.address.rstrip('/').rpartition(':')[2]}={worker}"


def children(process: int) -> list[int]:
    """The processes that a process started and that run."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        found += map(int, task.read_text().split())
    return found


@contextmanager
def started(root: Path, aside: Path, *options: str) -> Iterator[Board]:
    """A board of two workers, whose processes are gone with the block."""
    with board_process.started(root, aside, "--workers", "2", *options) as told:
        yield Board(*told)


def is_running(process: int) -> bool:
    """Whether there is such a process, and it is more than a name."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    """A board of two workers over a small run."""
    root = tmp_path_factory.mktemp("root")
    add_run(root, "run", ROWS)
    with started(root, tmp_path_factory.mktemp("board")) as found:
        yield found


def answer(connection: socket.socket, cookie: str, path: str = "/") -> bytes:
    """The head of the answer to a request down a connection that stays open."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\nAccept-Encoding: identity\r\n\r\n"
    connection.sendall(request.encode())
    head, rest = b"", b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65_536)
        assert piece
        head += piece
    head, _, rest = head.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    while length and len(rest) < int(length[1]):
        rest += connection.recv(65_536)
    return head


def connected(board: Board) -> socket.socket:
    """A new connection to the board."""
    host, _, port = board.address.removeprefix("http://").strip("/").partition(":")
    return socket.create_connection((host, int(port)), timeout=SECONDS)


def test_a_reader_stays_with_one_worker(board: Board) -> None:
    """Every connection of a reader comes to the worker that the cookie names: each answers for itself, and sends nobody on."""
    for worker in (0, 1):
        for _ in range(10):
            with connected(board) as connection:
                head = answer(connection, board.cookie(worker), "/responses")
                assert head.startswith(b"HTTP/1.1 200")
                assert b"rl_board_worker" not in head


def test_new_readers_are_spread(board: Board) -> None:
    """Who comes without a cookie is given one, and both workers get readers."""
    with ExitStack() as stack:
        given = set()
        for _ in range(8):
            with urllib.request.urlopen(f"{board.address}responses") as page:
                cookie = next(one for one in page.headers.get_all("set-cookie") if "rl_board_worker" in one).partition(";")[0]
            given.add(cookie)
            stack.enter_context(Session(board.address, cookie)).page(run="run")
        assert given == {board.cookie(0), board.cookie(1)}


def test_two_readers_down_one_connection(board: Board) -> None:
    """A proxy may send another reader's request down a connection that is open: it goes on at the right worker, to and fro, nothing lost."""
    with connected(board) as connection:
        for at in range(10):
            head = answer(connection, board.cookie(at % 2), f"/responses?run={at}")
            assert head.startswith(b"HTTP/1.1 200")
            assert b"rl_board_worker" not in head


def test_half_a_head_of_another_reader(board: Board) -> None:
    """What comes in pieces is not handed on, as some of it is read by then: it is sent to the same address, down a new connection."""
    with connected(board) as connection:
        assert answer(connection, board.cookie(0), "/responses").startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /responses?run=run HTTP/1.1\r\nHost: localhost\r\n")
        time.sleep(0.5)
        connection.sendall(f"Cookie: {board.cookie(1)}\r\n\r\n".encode())
        head = b""
        while piece := connection.recv(65_536):
            head += piece
        assert head.startswith(b"HTTP/1.1 307")
        assert b"location: /responses?run=run" in head


def test_a_request_for_a_worker_that_is_gone_waits_for_the_next(board: Board) -> None:
    """The connection on which it came is handed to whoever works there then."""
    killed = board.workers[1]
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: not is_running(killed))
    with connected(board) as connection:  # only now: a server ends connections that are idle for some seconds
        assert answer(connection, board.cookie(0), "/responses").startswith(b"HTTP/1.1 200")
        assert answer(connection, board.cookie(1), "/responses").startswith(b"HTTP/1.1 200")


def test_what_a_worker_had_not_taken_when_it_died_is_the_next_ones(board: Board) -> None:
    """A connection that was handed to a process which read no more is lost to nobody: no byte of it had been answered."""
    stopped = board.workers[1]
    os.kill(stopped, signal.SIGSTOP)
    with connected(board) as connection, ThreadPoolExecutor(1) as asking:
        answered = asking.submit(answer, connection, board.cookie(1), "/responses")
        time.sleep(1)  # in which it is handed on
        assert not answered.done()
        os.kill(stopped, signal.SIGKILL)
        assert answered.result(SECONDS).startswith(b"HTTP/1.1 200")


def test_a_worker_that_is_killed_is_started_again(board: Board) -> None:
    """Its readers lose their websocket and connect anew with the same cookie; those of the other hear nothing of it."""
    with Session(board.address, board.cookie(0)) as first, Session(board.address, board.cookie(1)) as second:
        before = [first.page(run="run"), second.page(run="run")]
        killed = board.workers[0]
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: first.is_open() != second.is_open())
        lost, kept = (1, first) if first.is_open() else (0, second)
        assert kept.page(run="run") == before[1 - lost]
    with Session(board.address, board.cookie(lost)) as again:
        assert again.page(run="run") == before[lost]
    assert killed not in board.workers
    assert len(board.workers) == 2
    assert "is started again" in board.output.read_text()


HALVES: dict[str, bytes] = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "no end of the headers": b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    "no request": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "a head without end": b"GET / HTTP/1.1\r\n" + b"X-Padding: " + b"x" * 1_000_000,
    "half a body": b"POST /_stcore/health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf",
}


def test_half_a_request_is_not_waited_for(board: Board) -> None:
    """A connection on which no request comes to its end is ended, and others are answered meanwhile."""
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(board)) for _ in HALVES]
        for client, data in zip(clients, HALVES.values(), strict=True):
            client.settimeout(SECONDS)
            try:
                client.sendall(data)
            except OSError:  # it was told before it had said all
                continue
        with urllib.request.urlopen(f"{board.address}_stcore/health") as health:
            assert health.status == 200
        for client in clients:
            assert is_ended(client)


def is_ended(client: socket.socket) -> bool:
    """Whether the other end closes, whatever it says before."""
    try:
        while client.recv(65_536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def test_many_connections_at_once(board: Board) -> None:
    """Three hundred that say nothing keep nobody out."""
    with ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(connected(board))
        with Session(board.address) as reader:
            assert reader.page(run="run")


@pytest.mark.parametrize("path", ["", "_stcore/health", "media/x", "responses"])
def test_foreign_names_are_refused(board: Board, path: str) -> None:
    """The gates hold at whichever worker."""
    for worker in (0, 1):
        request = urllib.request.Request(board.address + path, headers={"Host": "evil.example", "Cookie": board.cookie(worker)})
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(request)


def test_a_websocket_of_a_foreign_page_is_refused(board: Board) -> None:
    """Another origin's page opens none."""
    stream = f"{board.address.replace('http', 'ws', 1)}_stcore/stream"
    with pytest.raises(InvalidStatus, match="403"), connect(stream, origin=Origin("http://evil.example")):
        pass


def test_token_and_base_path(serve: Serve, tmp_path: Path) -> None:
    """One token opens every worker, under the path that was asked for, to which the cookie keeps."""
    add_run(tmp_path, "run", ROWS)
    link = serve(tmp_path, "--workers", "2", "--token", "--server.baseUrlPath", "/boards/rl/")
    address, _, _ = link.partition("?")
    assert address.endswith("/boards/rl/")
    port = address.removeprefix("http://").partition("/")[0].rpartition(":")[2]
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(link) as page:
        assert "Path=/boards/rl" in next(one for one in page.headers.get_all("set-cookie") if "rl_board_worker" in one)
    token = f"rl_board_{port}={link.partition('token=')[2]}"
    for worker in (0, 1):
        cookie = f"rl_board_worker_{port}={worker}"
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(address, headers={"Cookie": cookie}))
        with pytest.raises(InvalidStatus, match="403"):
            Session(address, cookie)
        with Session(address, f"{token}; {cookie}") as reader:
            assert reader.page(run="run")


ENDINGS = {"Ctrl-C": signal.SIGINT, "a request to end": signal.SIGTERM, "killed": signal.SIGKILL}


@pytest.mark.parametrize("ending", ENDINGS)
def test_workers_end_with_the_board(tmp_path: Path, ending: str) -> None:
    """However it ends, and though readers are there, no process is left; Ctrl-C and a request to end say so."""
    add_run(tmp_path / "root", "run", ROWS)
    with started(tmp_path / "root", tmp_path) as board, Session(board.address) as reader:
        reader.page(run="run")
        workers = board.workers
        assert len(workers) == 2
        board.process.send_signal(ENDINGS[ending])
        board.process.wait(timeout=SECONDS)
        eventually(lambda: not any(map(is_running, workers)))
        if ending == "Ctrl-C":
            assert "Stopped." in board.output.read_text()
        if ending != "killed":
            assert board.process.returncode == 0


def test_a_board_that_cannot_serve_says_so(tmp_path: Path) -> None:
    """Workers that end as they start are not started for ever."""
    code = (
        "from board.serving import workers; workers.MODULE = 'board.no_such_module'; workers.AGAIN_SECONDS = 0.01\n"
        "from board.__main__ import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "serve", str(tmp_path), "--port", "0", "--workers", "2"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert ended.returncode not in (0, None)
    assert "ended 3 times before it could serve" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_cold_run_is_whole_for_the_readers_of_both(tmp_path: Path) -> None:
    """Two workers that are asked for a run nobody has opened show the same of it."""
    add_run(tmp_path / "root", "run", [token_row(step) for step in range(2000)])
    with (
        started(tmp_path / "root", tmp_path) as board,
        Session(board.address, board.cookie(0)) as first,
        Session(board.address, board.cookie(1)) as second,
    ):
        first.ask(run="run")
        second.ask(run="run")
        eventually(lambda: first.page(run="run") == second.page(run="run"))
