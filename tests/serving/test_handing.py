"""Tests of connections handed from one to another: what was read of them comes along, and nothing is lost or waited for."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from board.serving import handing


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a pair."""
    ours, theirs = handing.pair()
    with ours, theirs:
        yield ours, theirs


@pytest.mark.parametrize(
    "read", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\0\0", bytes(handing.MOST_BYTES)], ids=["nothing", "a head", "zeros", "most"]
)
def test_a_connection_comes_with_what_was_read(ends: tuple[socket.socket, socket.socket], read: bytes) -> None:
    """Whoever takes it goes on where the other stopped, though that one has closed its own."""
    client, connection = socket.socketpair()
    with client:
        with connection:
            assert handing.hand(ends[0], connection, read)
        handed = handing.take(ends[1])
        assert handed is not None
        with handed.connection:
            assert handed.read == read
            handed.connection.send(b"answer")
            assert client.recv(10) == b"answer"


def test_messages_stay_apart(ends: tuple[socket.socket, socket.socket]) -> None:
    """Each connection keeps its own bytes, in the order in which they were handed."""
    with ExitStack() as stack:
        pairs = [socket.socketpair() for _ in range(3)]
        for at, (client, connection) in enumerate(pairs):
            stack.enter_context(client)
            stack.enter_context(connection)
            assert handing.hand(ends[0], connection, b"%d" % at)
        for at, (client, _) in enumerate(pairs):
            handed = handing.take(ends[1])
            assert handed is not None
            assert handed.read == b"%d" % at
            with handed.connection:
                handed.connection.send(b"to %d" % at)
            assert client.recv(10) == b"to %d" % at


def test_nobody_waits_for_one_who_takes_nothing(ends: tuple[socket.socket, socket.socket]) -> None:
    """When too many wait at the other end, handing says so at once; nothing of it is handed."""
    client, connection = socket.socketpair()
    with client, connection:
        handed = 0
        while handing.hand(ends[0], connection, bytes(10_000)):
            handed += 1
            assert handed < 10_000
        for _ in range(handed):
            taken = handing.take(ends[1])
            assert taken is not None
            taken.connection.close()
        with pytest.raises(BlockingIOError):
            handing.take(ends[1])


def test_an_end_that_is_gone_is_told(ends: tuple[socket.socket, socket.socket]) -> None:
    """Who hands to nobody has an error; who waits for nobody is told that nothing will come."""
    ours, theirs = ends
    ours.close()
    assert handing.take(theirs) is None
    one, other = handing.pair()
    other.close()
    with one, socket.socket() as connection, pytest.raises(OSError):
        handing.hand(one, connection, b"")
