"""Tests of a worker that keeps its readers and sends on those of another."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from board.serving.own_readers import OwnReaders
from board.serving.worker_cookie import WorkerCookie

COOKIE = WorkerCookie(8901, 3)
OURS, OTHERS = ({"cookie": f"rl_board_worker_8901={worker}"} for worker in (1, 2))


async def page(request: Request) -> HTMLResponse:
    """A page."""
    return HTMLResponse("page", headers={"set-cookie": "another=1"})


async def file(request: Request) -> PlainTextResponse:
    """Something that a proxy may keep."""
    return PlainTextResponse("file")


async def stream(websocket: WebSocket) -> None:
    """A websocket that says one word."""
    await websocket.accept()
    await websocket.send_text("word")
    await websocket.close()


@pytest.fixture
def client() -> TestClient:
    """A client of worker 1 of 3."""
    routes = [Route("/", page), Route("/file", file, methods=["GET", "POST"]), WebSocketRoute("/stream", stream)]
    own = Middleware(OwnReaders, cookie=COOKIE, worker=1, path="/")
    return TestClient(Starlette(routes=routes, middleware=[own]), follow_redirects=False)


def cookies(answer: Any) -> list[str]:
    """All cookies that an answer gives."""
    found: list[str] = answer.headers.get_list("set-cookie")
    return found


def test_a_page_gives_the_cookie_beside_others(client: TestClient) -> None:
    """Who comes without one is kept from then on."""
    assert cookies(client.get("/")) == ["another=1", "rl_board_worker_8901=1; Path=/; HttpOnly; SameSite=Lax"]


def test_only_pages_give_it(client: TestClient) -> None:
    """What a proxy keeps for everybody names nobody's worker; who has the cookie is not given it again."""
    assert cookies(client.get("/file")) == []
    assert cookies(client.get("/", headers=OURS)) == ["another=1"]


@pytest.mark.parametrize("path", ["/", "/file?a=1&b=%2F", "/?next=//evil.example"])
def test_who_is_another_workers_is_sent_to_the_same_address(client: TestClient, path: str) -> None:
    """Down another connection, as this one is ended; the address stays whole."""
    answer = client.get(path, headers=OTHERS)
    assert (answer.status_code, answer.headers["location"], answer.headers["connection"]) == (307, path, "close")


def test_no_redirect_leads_to_another_host(client: TestClient) -> None:
    """A path that begins with two slashes is no host."""
    assert client.get("http://testserver//evil.example/x", headers=OTHERS).headers["location"] == "/evil.example/x"


def test_what_cannot_be_asked_again_is_refused(client: TestClient) -> None:
    """What is sent to the wrong worker is not taken there."""
    answer = client.post("/file", headers=OTHERS)
    assert (answer.status_code, answer.headers["connection"]) == (421, "close")


@pytest.mark.parametrize(("headers", "opens"), [(OURS, True), ({}, True), (OTHERS, False)])
def test_websockets(client: TestClient, headers: dict[str, str], opens: bool) -> None:
    """A websocket opens at its own worker, and where no worker is named."""
    opened: Callable[[], str] = lambda: websocket_word(client, headers)  # noqa: E731
    if opens:
        assert opened() == "word"
    else:
        with pytest.raises(WebSocketDisconnect):
            opened()


def websocket_word(client: TestClient, headers: dict[str, str]) -> str:
    """What the websocket says first."""
    with client.websocket_connect("/stream", headers=headers) as websocket:
        return str(websocket.receive_text())
