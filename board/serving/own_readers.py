"""Keeps the readers of one worker with it, and sends on whoever came with another's: a proxy may send many readers down one connection.

Plain ASGI, behind the gate of hosts. Knows the cookie; knows no other worker.
"""

from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from board.serving.middleware import answered
from board.serving.worker_cookie import WorkerCookie

_ENDS: dict[str, str] = {"connection": "close", "cache-control": "no-store"}


class OwnReaders:
    """Gives whoever is sent a page the cookie of this worker, for addresses below `path`, and does not answer those of another."""

    def __init__(self, app: ASGIApp, cookie: WorkerCookie, worker: int, path: str) -> None:
        self.app = app
        self.cookie = cookie
        self.worker = worker
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the connection on, with the cookie on its way back, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        named = self.cookie.named(b"\n".join(b"cookie: " + value for name, value in scope["headers"] if name == b"cookie"))
        if named not in (None, self.worker):
            await answered(_elsewhere(scope), self.app)(scope, receive, send)
            return
        is_new = named is None and scope["type"] == "http"
        await self.app(scope, receive, self._with_cookie(scope, send) if is_new else send)

    def _with_cookie(self, scope: Scope, send: Send) -> Send:
        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):  # other answers may be kept by a proxy, for everybody
                    headers.append("set-cookie", self.cookie.given(self.worker, self.path, secure=scope["scheme"] == "https"))
            await send(message)

        return send_with_cookie


def _elsewhere(scope: Scope) -> Response:
    """Ends the connection: the next will be looked at anew, and be handed to the right worker. The same address, and no other host's."""
    if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
        query = HTTPConnection(scope).url.query
        there = f"/{quote(scope['path'].lstrip('/'))}" + (f"?{query}" if query else "")
        return RedirectResponse(there, status_code=307, headers=_ENDS)
    return PlainTextResponse("Another process of this board has your session: ask again.\n", status_code=421, headers=_ENDS)
