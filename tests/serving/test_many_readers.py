"""Tests of readers who do not behave: one who reads nothing of what he is sent, ones who vanish, one who opens a large run; the others go on."""

import re
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import board_process
import pytest
from board_process import eventually
from rows import add_run, token_row
from sessions import Session
from websockets.exceptions import ConnectionClosed

REPOSITORY = Path(__file__).parents[2]
STEPS = 50
FORGETS = ("--server.disconnectedSessionTTL", "3")
"""Seconds for which a session is kept whose reader may come back: two minutes unless set."""
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


def test_a_reader_who_reads_nothing_harms_nobody(board: tuple[str, int]) -> None:
    """Others have their pages while he asks on and on; what waits for him is bounded, as he is sent away."""
    with Session(board[0]) as reader, Session(board[0]) as slow:
        reader.page(run="run")
        before = private_megabytes(board[1])
        with suppress(ConnectionClosed, OSError):
            for at in range(200):
                ask_without_reading(slow, at % STEPS)
                if at % 20 == 0:
                    assert reader.page(run="run", step=at % STEPS)
        assert private_megabytes(board[1]) - before < 100
        assert reader.page(run="run", step=1)


def ask_without_reading(slow: Session, step: int) -> None:
    """A click of a reader whose side takes nothing from its socket, not even what the library would read by itself."""
    slow.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    slow.ask(run="run", step=step)
    time.sleep(0.02)


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
    add_run(root, "large", [token_row(step, response=f"{TEXT}{at}") for step in range(600) for at in range(16)])
    with Session(board[0]) as reader, Session(board[0]) as other:
        reader.page(run="run")
        other.ask(run="large")
        answered = 0
        texts: list[str] = []
        while not any("9,600 rollouts" in text for text in texts) and answered < 200:
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
