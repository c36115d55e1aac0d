"""Tests of the log-in: the real server, a real provider, and everybody who is not, not yet or no longer let in."""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from urllib.parse import quote, urljoin

import pytest
import requests
from login_provider import SECRET, Provider, Reader, login_provider
from rows import add_run
from servers import Serve
from streamlit.auth_util import set_cookie_with_chunks
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.typing import Origin

COOKIE = "_streamlit_user"
RUN = "a-run-that-is-secret"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """One for all tests here, with somebody who is let in and several who are not."""
    with login_provider() as running:
        running.knows("ana", email="ana@example.org", email_verified=True)
        running.knows("bo", email="bo@lab.example.org", email_verified=True, name="Bo <script>")
        running.knows("eve", email="eve@evil.org", email_verified=True)
        running.knows("mallory", email="ana@example.org", email_verified=False)
        running.knows("nobody")
        yield running


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the board of these tests keeps the logins."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def board(serve_module: Serve, provider: Provider, state: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a board with one run, that lets two in."""
    root = tmp_path_factory.mktemp("root")
    add_run(root, RUN, [{"step": 0, "response": "a response that is secret", "reward": 1.0}])
    allow = 'allow = ["ana@example.org", "@lab.example.org"]'
    first = f"import os; os.environ['RL_BOARD_STATE'] = {str(state)!r}"
    return serve_module(root, "--login", str(provider.secrets(tmp_path_factory.mktemp("secrets"), board=[allow])), first=first)


def websocket_status(board: str, cookies: dict[str, str]) -> int:
    """101 if the board's websocket opens for these cookies, else the status of the refusal."""
    try:
        with opened(board, cookies):
            return 101
    except InvalidStatus as refusal:
        return refusal.response.status_code


def opened(board: str, cookies: dict[str, str]) -> Connection:
    """The board's websocket, opened by a page of its own."""
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    return connect(
        f"{board.replace('http', 'ws', 1)}_stcore/stream", origin=Origin(board.rstrip("/")), additional_headers=headers
    )


def ends(stream: Connection, busy_with: bytes = b"") -> bool:
    """Whether the server closes a websocket within a minute, though its client sends this again and again."""
    began = time.monotonic()
    try:
        while time.monotonic() - began < 60:
            if busy_with:
                stream.send(busy_with)
            with suppress(TimeoutError):
                stream.recv(timeout=0.1)
    except ConnectionClosed:
        return True
    return False


BEFORE = [
    "",
    "runs",
    f"tokens?run={RUN}",
    "doctor",
    "rewards?run=x",
    "no-such-page",
    "index.html",
    "favicon.png",
    "manifest.json",
    "static/js/index.js",
    "static/../_stcore/host-config",
    "%2e%2e/_stcore/health",
    "_stcore/health/",
    "_stcore//health",
    "runs/_stcore/health",
    "_stcore/host-config",
    "_stcore/allowed-message-origins",
    "_stcore/metrics",
    "_stcore/script-health-check",
    "_stcore/upload_file/a/b",
    "_stcore/bidi-components/x/y.js",
    "_stcore/agent/openapi.json",
    "_stcore/agent/mcp",
    "_stcore/agent/interact",
    "component/x/index.html",
    "media/0123456789abcdef.csv",
    "app/static/x",
    "export/ticket",
    "auth/login/",
    "auth/logout/x",
    "AUTH/login",
    "oauth2callback/",
    "/auth/login",
]


def test_nothing_is_answered_before(board: str) -> None:
    """No page, file or endpoint, by no method: every answer is the request to log in, the same for what there is and what there is not."""
    said = "Log in to see the runs on this board."
    for path in BEFORE:
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            answer = requests.request(method, board + path, allow_redirects=False, timeout=30)
            assert (answer.status_code, answer.text.strip() or said) == (403, said), (method, path)
            assert answer.headers["cache-control"] == "no-store"
    for path in ("auth/login", "auth/logout", "oauth2callback", "_stcore/health"):
        assert requests.post(board + path, timeout=30).status_code == 403
    page = Reader(board).get(f"tokens?run={RUN}")
    assert page.status_code == 403
    assert page.text.replace(RUN, "no-such-run") == Reader(board).get("tokens?run=no-such-run").text
    assert "<script" not in page.text
    assert "Log in" in page.text
    assert websocket_status(board, {}) == 403


def test_health_is_answered(board: str) -> None:
    """To whoever watches over the server, and it says nothing else."""
    assert requests.get(f"{board}_stcore/health", timeout=30).text == "ok"


def test_log_in_and_out(board: str) -> None:
    """By the provider, back to the page that was asked for; pages and websocket are there until the log-out, then for no copy either."""
    ana = Reader(board)
    ana.get(f"steps?run={RUN}&step=0&text=a%26b")
    back = ana.log_in("ana")
    assert (back.status_code, back.headers["location"]) == (302, f"/steps?run={RUN}&step=0&text=a%26b")
    assert "rl_board_back" not in ana.cookies
    assert ana.get("runs").status_code == 200
    copy = ana.cookies
    with opened(board, copy) as stream:
        assert stream.ping().wait(timeout=60)
        assert ana.get("auth/logout", headers={"sec-fetch-site": "cross-site"}).status_code == 403
        assert ana.get("runs").status_code == 200
        ana.get("auth/logout")
        assert ends(stream)
    assert COOKIE not in ana.cookies
    assert ana.get("runs").status_code == 403
    assert requests.get(f"{board}runs", cookies=copy, timeout=30).status_code == 403
    assert websocket_status(board, copy) == 403


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("eve", "not open to eve@evil.org"),
        ("mallory", "not open to ana@example.org"),
        ("nobody", "not open to an account without an address"),
    ],
)
def test_refused(board: str, user: str, said: str) -> None:
    """Somebody who is not on the list is told so, and gets no cookie that would do for anything."""
    reader = Reader(board)
    answer = reader.log_in(user)
    assert answer.status_code == 403
    assert said in answer.text
    assert COOKIE not in reader.cookies
    assert reader.get("runs").status_code == 403


def test_a_domain(board: str) -> None:
    """Everybody of a domain on the list."""
    bo = Reader(board)
    bo.log_in("bo")
    assert bo.get("runs").status_code == 200


def signed(board: str, secret: str = SECRET, **changed: object) -> dict[str, str]:
    """The cookies of somebody on the list, signed here."""
    told = {
        "email": "ana@example.org",
        "email_verified": True,
        "origin": board.rstrip("/"),
        "is_logged_in": True,
        "provider": "default",
    }
    found: dict[str, str] = {}
    set_cookie_with_chunks(
        lambda name, value: found.__setitem__(name, create_signed_value(secret, name, value).decode()),
        lambda name, value: create_signed_value(secret, name, value),
        COOKIE,
        told | changed,
        cookie_attr_size=100,
    )
    return found


@pytest.mark.parametrize(
    "cookies",
    [
        pytest.param({COOKIE: "x"}, id="no cookie of ours"),
        pytest.param({COOKIE: json.dumps({"email": "ana@example.org", "is_logged_in": True})}, id="not signed"),
        pytest.param({COOKIE: "\xff" * 10}, id="no text"),
        pytest.param({COOKIE: "." * 4000}, id="points"),
    ],
)
def test_what_is_no_cookie(board: str, cookies: dict[str, str]) -> None:
    """Whatever stands in its place opens nothing, and breaks nothing."""
    header = "; ".join(f"{name}={value}" for name, value in cookies.items()).encode("latin-1")
    assert requests.get(f"{board}runs", headers={"cookie": header}, timeout=30).status_code == 403


def test_a_forged_cookie(board: str) -> None:
    """Neither one of another secret, nor one that whoever knows the secret has signed without a log-in."""
    for cookies in (signed(board, "another secret that is long enough too"), signed(board), signed(board, name=token_hex(4_500))):
        assert requests.get(f"{board}runs", cookies=cookies, timeout=30).status_code == 403
        assert websocket_status(board, cookies) == 403


def test_a_cookie_of_two_log_ins(board: str, provider: Provider) -> None:
    """Long cookies are cut into pieces, each signed by itself: pieces of two log-ins do not make a third."""
    readers = []
    for name in (token_hex(4_500), token_hex(4_500)):  # what repeats is packed
        provider.knows("carla", email="carla@lab.example.org", email_verified=True, name=name)
        readers.append(Reader(board))
        readers[-1].log_in("carla")
        assert readers[-1].get("runs").status_code == 200
    one, other = (reader.cookies for reader in readers)
    assert f"{COOKIE}_2" in one
    assert requests.get(f"{board}runs", cookies=one, timeout=30).status_code == 200
    assert requests.get(f"{board}runs", cookies=one | {f"{COOKIE}_2": other[f"{COOKIE}_2"]}, timeout=30).status_code == 403
    without = {name: value for name, value in one.items() if name != f"{COOKIE}_1"}
    assert requests.get(f"{board}runs", cookies=without, timeout=30).status_code == 403


def test_an_expired_login(board: str, state: Path) -> None:
    """After its hours a login is none, and whoever has the page open is sent to log in."""
    ana = Reader(board)
    before = {*(state / "logins").iterdir()} if (state / "logins").is_dir() else set()
    ana.log_in("ana")
    (file,) = {*(state / "logins").iterdir()} - before
    with opened(board, ana.cookies) as stream:
        os.utime(file, (0, time.time() - 12.1 * 3600))
        assert ana.get("runs").status_code == 403
        assert ends(stream)


def test_a_page_that_never_rests(board: str) -> None:
    """Whoever goes on sending is heard no longer than the login lasts."""
    ana = Reader(board)
    ana.log_in("ana")
    with opened(board, ana.cookies) as stream:
        ana.get("auth/logout")
        assert ends(stream, BackMsg(app_heartbeat=True).SerializeToString())


@pytest.mark.parametrize("query", ["?code=x&state=y", "?error=access_denied", "?error=<script>&state=y"])
def test_an_answer_of_no_provider(board: str, query: str) -> None:
    """A way back that nobody was on is told so in our own words, and nobody is logged in by it."""
    reader = Reader(board)
    answer = reader.get(f"oauth2callback{query}")
    assert answer.status_code == 403
    assert "did not come to its end" in answer.text
    assert "<script" not in answer.text
    assert reader.get("runs").status_code == 403


def test_an_answer_meant_for_another(board: str) -> None:
    """The provider's answer counts in the browser alone that asked: nobody can have another log in as somebody."""
    eve, victim = Reader(board), Reader(board)
    there = eve.get("auth/login").headers["location"]
    back = requests.post(there, data={"sub": "bo"}, allow_redirects=False, timeout=30).headers["location"]
    assert victim.session.get(back, timeout=30, headers={"accept": "text/html"}).status_code == 403
    assert victim.get("runs").status_code == 403


@pytest.mark.parametrize(
    "asked",
    ["//evil.example/x", "/\\evil.example", "https://evil.example", "%2F%2Fevil.example", "/%0d%0aset-cookie:x", "/" * 3000],
)
def test_the_way_back_stays_here(board: str, asked: str) -> None:
    """Whatever a link to the log-in says of the way back, it leads to this board."""
    ana = Reader(board)
    ana.way = f"{board}auth/login?back={quote(asked, safe='')}"
    there = ana.log_in("ana").headers["location"]
    assert there.startswith("/")
    assert not there.startswith(("//", "/\\"))
    assert "\n" not in there


def test_a_provider_that_is_gone(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Is said, and that a log-in did not work shows nothing of why."""
    secrets = Provider(9).secrets(tmp_path_factory.mktemp("secrets"))
    answer = Reader(serve(tmp_path_factory.mktemp("root"), "--login", str(secrets))).get("auth/login")
    assert answer.status_code == 502
    assert "does not answer" in answer.text


LEAVING = [
    "/rl/../other",
    "/rl/..",
    "/rl/./../other",
    "/rl/a/../../other",
    "/rl//../other",
    "/rl/%2e%2e/other",
    "/rl/.%2E/other",
    "/rl/%252e%252e/other",
    "/rl/..%2fother",
    "/rl/..\\other",
    "/rl\\..\\other",
    "/rl/..;/other",
    "/rl/\t../other",
    "/rl/.\t./other",
    "/rl/.\n./other",
    "/rlother",
    "//rl/../evil.example",
    "/../rl/../other",
    "rl/../other",
    "/rl/..?x=1",
    "/rl/..#x",
]


def test_the_way_back_stays_below_the_boards_path(
    serve: Serve, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Behind a path, where other sites may lie beside it, no way back climbs out of it, however a browser reads it."""
    secrets = provider.secrets(tmp_path_factory.mktemp("secrets"), base="/rl")
    address = serve(tmp_path_factory.mktemp("root"), "--login", str(secrets), "--server.baseUrlPath", "rl")
    left = []
    for asked in [*LEAVING, *(quote(one, safe="/") for one in LEAVING)]:
        ana = Reader(address)
        ana.way = f"{address}auth/login?back={quote(asked, safe='')}"
        told = ana.log_in("ana").headers["location"]
        read = re.sub("%2e", ".", re.sub(r"[\t\r\n]", "", told).replace("\\", "/"), flags=re.IGNORECASE)
        if not urljoin(address, read).startswith(address):
            left.append((asked, told))

    assert left == []


def test_behind_a_path_with_a_token(serve: Serve, provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Both are asked for, and the provider's answer passes the one to come to the other."""
    secrets = provider.secrets(tmp_path_factory.mktemp("secrets"), base="/rl")
    link = serve(tmp_path_factory.mktemp("root"), "--login", str(secrets), "--token", "--server.baseUrlPath", "rl")
    address, _, token = link.partition("?token=")
    reader = Reader(address)
    assert "asks for a token" in reader.get("").text
    assert "asks for a token" in reader.get("auth/login").text
    reader.get(f"?token={token}")
    assert "Log in to see" in reader.get("runs").text
    assert reader.log_in("eve").headers["location"] == "/rl/runs"
    assert reader.get("runs").status_code == 200


def test_logins_that_cannot_be_kept(serve: Serve, provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where the folder cannot be written nobody comes in, and the page says why."""
    blocked = tmp_path_factory.mktemp("state") / "file"
    blocked.write_text("")
    first = f"import os; os.environ['RL_BOARD_STATE'] = {str(blocked)!r}"
    secrets = provider.secrets(tmp_path_factory.mktemp("secrets"))
    reader = Reader(serve(tmp_path_factory.mktemp("root"), "--login", str(secrets), first=first))
    answer = reader.log_in("ana")
    assert answer.status_code == 503
    assert "cannot be written" in answer.text
    assert reader.get("runs").status_code == 403
