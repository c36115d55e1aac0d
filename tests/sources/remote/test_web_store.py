"""Tests of web servers that lie: each lie is a sentence with the address and the reason, and costs little; what is sound beside it is read."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from quiet_server import send
from range_server import RangeServer, range_server
from rows import row, write_run

from board import open_run
from board.errors import RunNotFound
from board.sources.remote import listings, object_store, web_store

LENGTH = "Content-Length"
LONG = 64 << 20

Lie = Callable[[BaseHTTPRequestHandler], bool]


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RangeServer]:
    """A server of a run of two shards; what lies above the run is nobody's."""
    monkeypatch.setattr(object_store, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(listings, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(listings, "COSTS", 0.0)
    write_run(tmp_path / "served" / "run", {name: [row(step) for step in range(3)] for name in ("a.jsonl", "b.jsonl")})
    (tmp_path / "served" / "secret.jsonl").write_bytes(b'{"step": 9, "response": "secret"}\n')
    with range_server(tmp_path / "served") as server:
        yield server


def head(handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str]) -> bool:
    """The beginning of an answer that promises what it likes."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    return True


def says(status: int, headers: dict[str, str], method: str = "HEAD", path: str = "/run/b.jsonl", body: bytes = b"") -> Lie:
    """Answers one path in that way."""

    def lie(handler: BaseHTTPRequestHandler) -> bool:
        if (handler.command, handler.path) != (method, path):
            return False
        with suppress(OSError):
            head(handler, status, headers)
            handler.wfile.write(body if method == "GET" else b"")
        return True

    return lie


def without_end(handler: BaseHTTPRequestHandler, piece: bytes, seconds: float = 0.0, most: int = LONG) -> int:
    """Send a piece again and again until the other side goes, or it is too much; how many bytes went."""
    sent = 0
    with suppress(OSError):
        while sent < most:
            handler.wfile.write(piece)
            handler.wfile.flush()
            sent += len(piece)
            time.sleep(seconds)
    return sent


OF_ONE_FILE = {
    "a length that is a word": says(200, {LENGTH: "abc"}),
    "a length of thirty digits": says(200, {LENGTH: "9" * 30}),
    "a length of 5,000 digits": says(200, {LENGTH: "9" * 5_000}),
    "a length below nothing": says(200, {LENGTH: "-5"}),
    "a length beyond any disk": says(200, {LENGTH: str(1 << 58)}),
    "no length": says(200, {}),
    "another status": says(299, {LENGTH: "0"}),
    "led to no address": says(302, {"Location": "http://[", LENGTH: "0"}),
    "led to a port that is none": says(302, {"Location": "http://127.0.0.1:99999999/run/b.jsonl", LENGTH: "0"}),
    "led to a file": says(302, {"Location": "file:///etc/passwd", LENGTH: "0"}),
    "led to a cloud's own address": says(302, {"Location": "http://169.254.169.254/latest", LENGTH: "0"}),
    "led up": says(302, {"Location": "/run/b.jsonl/../../secret.jsonl", LENGTH: "0"}),
    "led up by an encoded way": says(302, {"Location": "/run/b.jsonl/%2e%2e/%2e%2e/secret.jsonl", LENGTH: "0"}),
    "led beside": says(302, {"Location": "/run/b.jsonl.secret", LENGTH: "0"}),
    "led nowhere": says(302, {LENGTH: "0"}),
    "a range that is a word": says(206, {"Content-Range": "bytes what", LENGTH: "3"}, "GET", body=b"{}\n"),
    "a range of a size of thirty digits": says(206, {"Content-Range": f"bytes 0-9/{'9' * 30}"}, "GET", body=b"x" * 10),
    "no range": says(206, {LENGTH: "3"}, "GET", body=b"{}\n"),
    "a whole of another size": says(200, {LENGTH: "3"}, "GET", body=b"{}\n"),
    "compressed": says(206, {"Content-Encoding": "gzip", LENGTH: "3"}, "GET", body=b"{}\n"),
}


@pytest.mark.parametrize("lie", OF_ONE_FILE.values(), ids=[*OF_ONE_FILE])
def test_a_lie_about_one_file(lie: Lie, web: RangeServer) -> None:
    """The file is told with its reason; the other is read, and nothing that was not named."""
    web.lie = lie
    run = open_run(f"{web.address}/run")
    assert run.frame["shard"].tolist() == ["a.jsonl"] * 3
    told = [*run.report.elsewhere, *(f"{one.shard} {one.reason}" for one in run.report.problems)]
    assert any("b.jsonl" in one for one in told), told
    assert not [path for _, path, _ in web.asked if "secret" in path]


@pytest.mark.parametrize(("name", "start"), [("others", 7), ("before", -3)], ids=["other bytes than asked", "bytes before those"])
def test_other_bytes_than_asked(name: str, start: int, web: RangeServer) -> None:
    """Are not taken for those that were asked for."""
    data = (web.folder / "run" / "b.jsonl").read_bytes()
    etag = f'"{(web.folder / "run" / "b.jsonl").stat().st_mtime_ns}-{len(data)}"'
    told = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}", "ETag": etag, LENGTH: str(len(data))}
    web.lie = says(206, told, "GET", body=data[::-1])
    run = open_run(f"{web.address}/run")
    assert run.frame["shard"].tolist() == ["a.jsonl"] * 3
    assert any(one.shard == "b.jsonl" for one in run.report.problems)


@pytest.mark.parametrize("chunked", [False, True], ids=["of a length", "without end"])
def test_no_more_is_read_than_was_asked_for(chunked: bool, web: RangeServer) -> None:
    """A server that goes on sending is hung up on; what was asked for is used."""
    data = (web.folder / "run" / "b.jsonl").read_bytes()
    etag, sent = f'"{(web.folder / "run" / "b.jsonl").stat().st_mtime_ns}-{len(data)}"', list[int]()

    def lie(handler: BaseHTTPRequestHandler) -> bool:
        if (handler.command, handler.path) != ("GET", "/run/b.jsonl"):
            return False
        length = {"Transfer-Encoding": "chunked"} if chunked else {LENGTH: str(1 << 40)}
        head(handler, 206, {"Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}", "ETag": etag, **length})
        more = b"y" * 65_536
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
        sent.append(without_end(handler, b"10000\r\n%s\r\n" % more if chunked else more))
        return True

    web.lie = lie
    assert len(open_run(f"{web.address}/run").frame) == 6
    assert sent
    assert max(sent) < LONG


OF_ALL = {
    "a list without end": lambda handler: (
        head(handler, 200, {"Content-Type": "text/html"}) and without_end(handler, b"<br>" * 9_999)
    ),
    "a list of chunks without end": lambda handler: (
        head(handler, 200, {"Content-Type": "text/html", "Transfer-Encoding": "chunked"})
        and without_end(handler, b"2710\r\n" + b"y" * 10_000 + b"\r\n")
    ),
    "a list a byte at a time": lambda handler: (
        head(handler, 200, {"Content-Type": "text/html"}) and without_end(handler, b"x", 0.05)
    ),
    "a head a byte at a time": lambda handler: without_end(handler, b"H", 0.05),
    "no head": lambda handler: without_end(handler, b"HTTP/1.1 100 Continue\r\n\r\n", 0.001),
    "closes at once": lambda handler: True,
    "a head that is none": lambda handler: handler.wfile.write(b"\xff\xfe\r\n\r\n"),
    "headers without end": lambda handler: without_end(handler, b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 999),
    "led in a circle": lambda handler: head(handler, 302, {"Location": handler.path, LENGTH: "0"}),
    "asks for a password": lambda handler: head(handler, 401, {"WWW-Authenticate": "Basic", LENGTH: "0"}),
}


@pytest.mark.parametrize("lie", OF_ALL.values(), ids=[*OF_ALL])
def test_a_server_that_lies_is_a_sentence(lie: Callable[..., object], web: RangeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever comes instead of a list of files ends as the reason why there is none, in bounded time and memory."""
    monkeypatch.setattr(web_store, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(web_store, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(object_store, "MOST_TRIES", 2)
    monkeypatch.setattr(web_store, "_MOST_PAGE", 1 << 20)
    web.lie = lambda handler: (lie(handler), True)[1]
    with pytest.raises(RunNotFound, match=rf"^{web.address}/run: "):
        open_run(f"{web.address}/run")


def listed(*links: str) -> Lie:
    """Every folder is a page of these links."""
    page = "".join(f'<a href="{link}">x</a>' for link in links).encode()

    def lie(handler: BaseHTTPRequestHandler) -> bool:
        if not handler.path.endswith("/"):
            return False
        send(handler, 200, page, {"Content-Type": "text/html"})
        return True

    return lie


def test_folders_without_end(web: RangeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that list folders are looked into so many times, and the run is refused then."""
    monkeypatch.setattr(web_store, "_MOST_FOLDERS", 50)
    web.lie = listed("x/", "y/", "z/")
    with pytest.raises(RunNotFound, match="more than 50 folders: name one of them"):
        open_run(f"{web.address}/run")
    assert len(web.asked) == 50


def test_a_listing_takes_so_long_at_most(web: RangeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store whose files are not looked at in time is refused."""
    monkeypatch.setattr(web_store, "_MOST_LISTING", 0.0)
    with pytest.raises(RunNotFound, match="takes more than 0 seconds to list"):
        open_run(f"{web.address}/run")


def test_links_that_lead_out(web: RangeServer) -> None:
    """No link of a page is followed out of its folder, and odd names stay within the mirror."""
    names = ["a.jsonl", "../secret.jsonl", "%2e%2e/secret.jsonl", "%252e%252e/", "/secret.jsonl", "..%2fsecret.jsonl"]
    names += ["http://127.0.0.1:1/run/x.jsonl", "file:///etc/passwd", "n%00ul.jsonl", "new%0aline.jsonl", "a.jsonl?x=1", "//"]
    pages = listed(*names)
    web.lie = lambda handler: handler.path == "/run/" and pages(handler)
    run = open_run(f"{web.address}/run")
    assert run.frame["shard"].tolist() == ["a.jsonl"] * 3
    assert not [path for _, path, _ in web.asked if "secret" in path or "passwd" in path]


def test_a_file_that_changes_at_every_look(web: RangeServer) -> None:
    """Versions are never mixed, and reading it ends."""
    count = iter(range(10**9))

    def lie(handler: BaseHTTPRequestHandler) -> bool:
        if handler.path != "/run/b.jsonl":
            return False
        send(
            handler,
            200,
            b"" if handler.command == "HEAD" else b"{}",
            {"ETag": f'"{next(count)}"', "Last-Modified": "Mon, 01 Jan 9999 00:00:00 GMT"},
        )
        return True

    web.lie = lie
    run = open_run(f"{web.address}/run")
    assert run.frame["shard"].unique().tolist() == ["a.jsonl"]


def test_the_body_of_a_redirect_is_not_read(web: RangeServer) -> None:
    """However long it is."""
    sent = list[int]()

    def lie(handler: BaseHTTPRequestHandler) -> bool:
        if handler.command != "GET" or handler.path != "/run/b.jsonl":
            return False
        head(handler, 302, {"Location": "/secret.jsonl", LENGTH: str(1 << 40)})
        sent.append(without_end(handler, b"y" * 65_536))
        return True

    web.lie = lie
    run = open_run(f"{web.address}/run")
    assert [one.shard for one in run.report.problems] == ["b.jsonl"]
    assert "redirects out of the folder" in run.report.problems[0].reason
    assert max(sent) < LONG


def test_cookies_are_not_kept(web: RangeServer) -> None:
    """What a server has its readers remember is not sent back."""
    seen: list[str | None] = []

    def lie(handler: BaseHTTPRequestHandler) -> bool:
        seen.append(handler.headers.get("Cookie"))
        if handler.path != "/run/":
            return False
        send(handler, 200, b'<a href="a.jsonl">a</a>', {"Content-Type": "text/html", "Set-Cookie": "a=b; Path=/"})
        return True

    web.lie = lie
    open_run(f"{web.address}/run")
    assert len(seen) > 1
    assert set(seen) == {None}
