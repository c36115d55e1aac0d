"""Tests of the cookie that names a reader's worker."""

import pytest

from board.serving.worker_cookie import WorkerCookie

COOKIE = WorkerCookie(8901, 3)

HEADS: dict[str, tuple[bytes, int | None]] = {
    "alone": (b"GET / HTTP/1.1\r\nCookie: rl_board_worker_8901=2", 2),
    "among others": (b"GET / HTTP/1.1\r\ncookie: a=b; rl_board_worker_8901=1; c=d\r\nHost: x", 1),
    "the first of two": (b"GET / HTTP/1.1\r\nCookie: rl_board_worker_8901=1; rl_board_worker_8901=2", 1),
    "none": (b"GET / HTTP/1.1\r\nHost: x", None),
    "another board's": (b"GET / HTTP/1.1\r\nCookie: rl_board_worker_8902=1", None),
    "one that is no longer": (b"GET / HTTP/1.1\r\nCookie: rl_board_worker_8901=3", None),
    "huge": (b"GET / HTTP/1.1\r\nCookie: rl_board_worker_8901=" + b"9" * 5000, None),
    "negative": (b"GET / HTTP/1.1\r\nCookie: rl_board_worker_8901=-1", None),
    "no number": (b"GET / HTTP/1.1\r\nCookie: rl_board_worker_8901=x", None),
    "other digits": ("GET / HTTP/1.1\r\nCookie: rl_board_worker_8901=\u0662".encode(), None),
    "in the address": (b"GET /?cookie:rl_board_worker_8901=1 HTTP/1.1\r\nHost: x", None),
    "in another header": (b"GET / HTTP/1.1\r\nX-Cookie: rl_board_worker_8901=1", None),
    "no request": (b"\x16\x03\x01\x02\x00", None),
    "nothing": (b"", None),
}


@pytest.mark.parametrize("case", HEADS)
def test_named(case: str) -> None:
    """A worker is named by this board's cookie alone, and only one that there is."""
    head, worker = HEADS[case]
    assert COOKIE.named(head) == worker


@pytest.mark.parametrize("worker", range(3))
def test_what_is_given_comes_back(worker: int) -> None:
    """The browser sends what it was given, and is known by it."""
    assert COOKIE.named(b"Cookie: " + COOKIE.given(worker, "/", secure=False).partition(";")[0].encode()) == worker


def test_a_cookie_is_as_safe_as_its_connection() -> None:
    """Scripts cannot read it, it keeps to the board's path, and over TLS it does not travel without."""
    assert COOKIE.given(1, "/rl", secure=True) == "rl_board_worker_8901=1; Path=/rl; HttpOnly; SameSite=Lax; Secure"
