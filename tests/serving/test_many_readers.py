"""Tests of readers who do not behave: one who reads nothing of what he is sent, ones who vanish, one who opens a large run; the others go on."""

import fcntl
import re
import socket
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

import board_process
import pytest
from board_process import SECONDS, eventually
from rows import add_run, token_row
from sessions import Session
from streamlit.proto.BackMsg_pb2 import BackMsg

REPOSITORY = Path(__file__).parents[2]
STEPS = 50
FORGETS = ("--server.disconnectedSessionTTL", "3", "--server.websocketPingInterval", "5")
"""Seconds for which a session is kept whose reader may come back, and after which who says nothing is asked: both longer unless set."""
DEAF_CLICKS = 150
MOST_MEGABYTES = 14.0
"""What may wait for a reader who takes nothing: the pages he asked for are more than twice as much."""
TEXT = "a long answer " * 200


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run whose pages are large enough to fill a connection that nobody reads, and room for another."""
    folder = tmp_path_factory.mktemp("root")
    add_run(
        folder, "run", [token_row(step, response=f"{TEXT}{at}", reward=float(at)) for step in range(STEPS) for at in range(8)]
    )
    return folder


@pytest.fixture(scope="module")
def board(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """The address of a board over it, and the process that serves."""
    aside = tmp_path_factory.mktemp("board")
    with board_process.started(root, aside, *FORGETS) as (address, process, _):
        yield address, process.pid


def open_files(process: int) -> int:
    """How many files and connections a process has open."""
    return sum(1 for _ in Path(f"/proc/{process}/fd").iterdir())


def private_megabytes(process: int) -> float:
    """What would come free if the process ended."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return float(re.search(r"Private_Dirty:\s+(\d+)", text)[1]) / 1e3  # type: ignore[index]


class Deaf:
    """A reader by the bare socket, who asks and never takes a byte of what he is sent: no library reads for him. Ends with the block."""

    def __init__(self, address: str) -> None:
        host, _, port = address.removeprefix("http://").strip("/").partition(":")
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # before it connects: later it would not count
        self._socket.settimeout(SECONDS)
        self._socket.connect((host, int(port)))
        self._socket.sendall(
            f"GET /_stcore/stream HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )

    def __enter__(self) -> "Deaf":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, **place: str | int) -> bool:
        """A click; False once the board has ended the connection."""
        asked = BackMsg()
        asked.rerun_script.query_string = urlencode(place)
        data = asked.SerializeToString()
        assert len(data) < 126  # a frame of the shortest kind
        try:
            self._socket.sendall(bytes([0x82, 0x80 | len(data), 0, 0, 0, 0]) + data)
        except OSError:
            return False
        return True

    def waiting(self) -> int:
        """How many bytes the kernel holds for him."""
        return int.from_bytes(fcntl.ioctl(self._socket, termios.FIONREAD, bytes(4)), "little")


def test_a_reader_who_reads_nothing_harms_nobody(board: tuple[str, int]) -> None:
    """Each of his clicks is followed by a page of another's, which comes; what waits for him is bounded."""
    address, process = board
    with Session(address) as reader:
        for at in range(20):  # what all readers share is there then
            reader.page(run="run", step=at % STEPS)
        before = private_megabytes(process)
        with Deaf(address) as deaf:
            for at in range(DEAF_CLICKS):
                deaf.ask(run="run", step=at % STEPS)
                assert reader.page(run="run", step=(7 * at) % STEPS)
            assert deaf.waiting() > 0  # something was sent to him, and he has not taken it
            assert private_megabytes(process) - before < MOST_MEGABYTES
            assert reader.page(run="run", step=1)


def test_readers_who_vanish_leave_nothing_open(board: tuple[str, int]) -> None:
    """A connection that is cut in the middle of a page ends, its session a while later, and those of others do not."""
    with Session(board[0]) as reader:
        reader.page(run="run")
        before = open_files(board[1])
        for at in range(20):
            with ExitStack() as stack:
                gone = stack.enter_context(Session(board[0]))
                gone.ask(run="run", step=at)
                plug = gone.socket.socket
                plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # cut, not closed
            if at % 5 == 0:
                assert reader.page(run="run", step=at)
        eventually(lambda: come_and_go(board[0]) and open_files(board[1]) < before + 20)
        assert reader.page(run="run", step=3)


def come_and_go(address: str) -> bool:
    """A reader who looks at one page: sessions that nobody came back for are forgotten when another ends."""
    time.sleep(0.5)
    with Session(address) as reader:
        return bool(reader.page(run="run"))


def test_a_large_run_that_is_read_for_the_first_time_keeps_nobody_waiting(board: tuple[str, int], root: Path) -> None:
    """Readers of another run have many pages while it is being read."""
    add_run(root, "large", [token_row(step, response=f"{TEXT}{at}") for step in range(200) for at in range(16)])
    with Session(board[0]) as reader, Session(board[0]) as other:
        reader.page(run="run")
        other.ask(run="large")
        answered = 0
        texts: list[str] = []
        while not any("3,200 rollouts" in text for text in texts) and answered < 200:
            assert reader.page(run="run", step=answered % STEPS)
            answered += 1
            texts = other.page(run="large")
        assert answered >= 1


@pytest.mark.slow
def test_memory_is_flat_over_many_clicks(board: tuple[str, int]) -> None:
    """Two thousand clicks take no more memory than the first five hundred took."""
    with Session(board[0]) as reader:
        for at in range(500):
            reader.page(run="run", step=at % STEPS, filter=f"reward > {at % 5}")
        before = private_megabytes(board[1])
        for at in range(2000):
            reader.page(run="run", step=at % STEPS, filter=f"reward > {at % 5}")
        assert private_megabytes(board[1]) - before < 25
