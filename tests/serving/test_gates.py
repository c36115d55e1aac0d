"""Tests of the gates by themselves: which requests they let through, and what they answer to the rest."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from board.serving.gates import HostGate, SafeHeaders, TokenGate, host_name, is_address, safe_headers

OPENED = PlainTextResponse("opened")
Header = tuple[str, str]


def request(
    app: ASGIApp, target: str = "/", headers: Sequence[Header] = (), kind: str = "http"
) -> tuple[int, dict[str, str], str]:
    """Status, headers and text of an app's answer; a websocket closed before it opens has status 403."""
    path, _, query = target.partition("?")
    scope = {
        "type": kind,
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        "server": ("127.0.0.1", 8901),
        "scheme": "http",
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    async def exchange() -> None:
        await app(scope, receive, send)

    asyncio.run(exchange())
    if sent[0]["type"] == "websocket.close":
        return 403, {}, ""
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, b"".join(message["body"] for message in sent[1:]).decode()


async def opened_websocket(scope: Scope, receive: Receive, send: Send) -> None:
    """Stands for an app that takes a websocket; answers in HTTP's words so that `request` reads it."""
    await OPENED({"type": "http"}, receive, send)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        pytest.param("localhost:8901", "localhost", id="name and port"),
        pytest.param("LOCALHOST", "localhost", id="upper case"),
        pytest.param("board.example.", "board.example", id="root dot"),
        pytest.param("[::1]:8901", "::1", id="bracketed"),
        pytest.param("127.0.0.1", "127.0.0.1", id="address"),
        pytest.param("", None, id="empty"),
        pytest.param("evil@localhost", None, id="user"),
        pytest.param("localhost/..", None, id="path"),
        pytest.param("localhost:port", None, id="port that is no number"),
        pytest.param("local host", None, id="space"),
    ],
)
def test_host_name(header: str, name: str | None) -> None:
    """The name is read without port and brackets; whatever is not a host gives None."""
    assert host_name(header) == name


@given(st.text(max_size=40))
def test_host_name_never_raises(header: str) -> None:
    """Any text is a host or is not; nothing in a header can break the gate."""
    name = host_name(header)
    assert name is None or name == name.lower()
    assert isinstance(is_address(header), bool)


@pytest.mark.parametrize(
    ("host", "any_address", "status"),
    [
        pytest.param("localhost:8901", False, 200, id="own name"),
        pytest.param("evil.example", False, 400, id="foreign name"),
        pytest.param("localhost.evil.example", False, 400, id="own name as a part"),
        pytest.param("10.0.0.7:8901", False, 400, id="address, on loopback"),
        pytest.param("10.0.0.7:8901", True, 200, id="address, bound wide"),
        pytest.param("[fe80::1]:8901", True, 200, id="IPv6 address, bound wide"),
        pytest.param("evil.example", True, 400, id="foreign name, bound wide"),
    ],
)
def test_host_gate(host: str, any_address: bool, status: int) -> None:
    """Only own names are answered to, and plain addresses where the board is bound wide."""
    gate = HostGate(OPENED, ["localhost"], any_address=any_address)
    assert request(gate, headers=[("host", host)])[0] == status


def test_host_gate_without_host() -> None:
    """A request that names no host is refused."""
    assert request(HostGate(OPENED, ["localhost"]))[0] == 400


def test_host_gate_names_the_way_out() -> None:
    """The refusal says which option would let the name in, as plain text."""
    _, headers, text = request(HostGate(OPENED, ["localhost"]), headers=[("host", "gpu7.lab")])
    assert "--allow-host gpu7.lab" in text
    assert headers["content-type"].startswith("text/plain")


def test_host_gate_star() -> None:
    """`*` answers to every name."""
    assert request(HostGate(OPENED, ["*"]), headers=[("host", "evil.example")])[0] == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        pytest.param("http://localhost:8901", 200, id="own page"),
        pytest.param(None, 200, id="no browser"),
        pytest.param("http://localhost:3000", 403, id="another port of this machine"),
        pytest.param("http://evil.example", 403, id="another site"),
        pytest.param("null", 403, id="sandboxed frame"),
        pytest.param("https://hub.example", 200, id="allowed origin"),
        pytest.param("http://[", 403, id="half an address"),
        pytest.param("http://[::1", 403, id="half an address of this machine"),
        pytest.param("http://[localhost:8901]", 403, id="a name in brackets"),
        pytest.param("", 403, id="empty"),
    ],
)
def test_websocket_origin(origin: str | None, status: int) -> None:
    """A websocket opens for a page of the same origin, for a program, and for an origin that was allowed by name."""
    gate = HostGate(opened_websocket, ["localhost"], origins=["https://hub.example"])
    headers = [("host", "localhost:8901"), *([("origin", origin)] if origin is not None else [])]
    assert request(gate, headers=headers, kind="websocket")[0] == status


@given(st.text(st.characters(max_codepoint=255), max_size=40))
def test_no_origin_breaks_the_gate(origin: str) -> None:
    """Whatever stands in the header, a websocket opens or is refused."""
    gate = HostGate(opened_websocket, ["localhost"])
    for header in (origin, f"http://{origin}"):
        assert request(gate, headers=[("host", "localhost"), ("origin", header)], kind="websocket")[0] in (200, 403)


def gated(target: str = "/", cookie: str = "", kind: str = "http") -> tuple[int, dict[str, str], str]:
    """A request through a token gate whose token is `secret`."""
    headers = [("host", "localhost"), *([("cookie", cookie)] if cookie else [])]
    app = OPENED if kind == "http" else opened_websocket
    return request(TokenGate(app, "secret", open_paths=["/_stcore/health"]), target, headers, kind)


@pytest.mark.parametrize(
    ("target", "cookie", "status"),
    [
        pytest.param("/", "", 403, id="nothing"),
        pytest.param("/?token=wrong", "", 403, id="wrong token"),
        pytest.param("/?token=", "", 403, id="empty token"),
        pytest.param("/?token=%C3%A9", "", 403, id="token outside ASCII"),
        pytest.param("/?token=secret", "", 303, id="right token"),
        pytest.param("/", "rl_board_8901=secret", 200, id="cookie"),
        pytest.param("/", "odd=[]{}; rl_board_8901=secret", 200, id="cookie after another"),
        pytest.param("/", "rl_board_8902=secret", 403, id="cookie of another port"),
        pytest.param("/", "rl_board_8901=wrong", 403, id="wrong cookie"),
        pytest.param("/_stcore/health", "", 200, id="health check"),
        pytest.param("/_stcore/health/../host-config", "", 403, id="beside the health check"),
    ],
)
def test_token_gate(target: str, cookie: str, status: int) -> None:
    """The token or its cookie opens, nothing else does; the health check is open."""
    assert gated(target, cookie)[0] == status


@pytest.mark.parametrize(
    ("target", "cookie", "status"),
    [
        pytest.param("/_stcore/stream", "", 403, id="nothing"),
        pytest.param("/_stcore/stream?token=secret", "", 403, id="token in the address"),
        pytest.param("/_stcore/stream", "rl_board_8901=secret", 200, id="cookie"),
    ],
)
def test_token_gate_websocket(target: str, cookie: str, status: int) -> None:
    """A websocket opens by cookie only."""
    assert gated(target, cookie, "websocket")[0] == status


def test_token_cookie() -> None:
    """The cookie is out of reach of scripts and of other sites."""
    cookie = gated("/?token=secret")[1]["set-cookie"].lower()
    assert {"httponly", "samesite=lax", "path=/"} <= set(cookie.split("; "))


@pytest.mark.parametrize(
    ("target", "location"),
    [
        pytest.param("/?token=secret", "/", id="token alone"),
        pytest.param("/tokens?step=7&token=secret&cols=a&cols=b%26c", "/tokens?step=7&cols=a&cols=b%26c", id="deep link"),
        pytest.param("//evil.example/?token=secret", "/evil.example/", id="two slashes"),
        pytest.param("/\\evil.example?token=secret", "/%5Cevil.example", id="backslash"),
        pytest.param("/a\r\nx: y?token=secret", "/a%0D%0Ax%3A%20y", id="line break"),
    ],
)
def test_token_redirect(target: str, location: str) -> None:
    """The redirect keeps page and parameters, drops the token, and cannot lead to another host or add a header."""
    assert gated(target)[1]["location"] == location


def test_safe_headers_allow_only_the_pages_own_inline_scripts() -> None:
    """The policy names the hash of each inline script and allows no other."""
    page = "<script>\n  window.x = 1\n</script><script src='a.js'></script>"
    policy = safe_headers(page)["content-security-policy"]
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert scripts == "script-src 'self' blob: 'sha256-9drQX42/rMuCwOCH/ydXOJ/IpVUloMeSNPc4MfJKROY='"


def test_safe_headers_are_on_every_answer() -> None:
    """Headers are added to what the app answers, a refusal included."""
    app = SafeHeaders(HostGate(OPENED, ["localhost"]), {"x-content-type-options": "nosniff"})
    assert request(app, headers=[("host", "evil.example")])[1]["x-content-type-options"] == "nosniff"
